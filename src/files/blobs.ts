/** The only file that speaks to R2: where the bytes of files are. */
import { cleanType } from "./media-type.ts";
import { type RangeFrom, sliceOf } from "./range.ts";

/** R2 removes this many objects in one call. */
export const MAX_REMOVED = 1000;

/** Which file is meant. The account is part of the name in R2: a key opens nothing in another organization. */
export interface BlobAddress {
  readonly accountId: string;
  readonly key: string;
}

/** What is known of a file's bytes without reading them. */
export interface BlobFacts {
  readonly size: number;
  /** Quoted, as `ETag` has it. */
  readonly etag: string;
  readonly mimeType: string;
}

export interface Blob extends BlobFacts {
  /** Null when the file has nothing of the range. */
  readonly body: ReadableStream | null;
}

/** A file on its way to R2 in several parts; nobody can read it until it is complete. */
export interface PartedBlob {
  /** R2's name for the upload. */
  readonly uploadId: string;
  /** All parts but the last have the same size. */
  add(part: Uint8Array): Promise<void>;
  complete(): Promise<void>;
}

export interface Blobs {
  /** Puts a whole file. */
  put(address: BlobAddress, mimeType: string, bytes: Uint8Array): Promise<void>;
  begin(address: BlobAddress, mimeType: string): Promise<PartedBlob>;
  /** Null when it is not there. */
  head(address: BlobAddress): Promise<BlobFacts | null>;
  /** Null when it is not there. */
  get(address: BlobAddress, range: RangeFrom | null): Promise<Blob | null>;
  /** Removes at most {@link MAX_REMOVED} files and what has come of uploads; may be repeated. */
  remove(files: readonly (BlobAddress & { readonly uploadId: string | null })[]): Promise<void>;
}

const nameOf = ({ accountId, key }: BlobAddress): string => `${accountId}/${key}`;

const factsOf = ({ size, httpEtag, httpMetadata }: R2Object): BlobFacts => ({
  size,
  etag: httpEtag,
  mimeType: cleanType(httpMetadata?.contentType),
});

export const openBlobs = (bucket: R2Bucket): Blobs => ({
  async put(address, mimeType, bytes) {
    await bucket.put(nameOf(address), bytes, { httpMetadata: { contentType: mimeType } });
  },

  async begin(address, mimeType) {
    const upload = await bucket.createMultipartUpload(nameOf(address), {
      httpMetadata: { contentType: mimeType },
    });
    const parts: R2UploadedPart[] = [];
    return {
      uploadId: upload.uploadId,
      async add(part) {
        parts.push(await upload.uploadPart(parts.length + 1, part));
      },
      async complete() {
        await upload.complete(parts);
      },
    };
  },

  async head(address) {
    const object = await bucket.head(nameOf(address));
    return object && factsOf(object);
  },

  async get(address, range) {
    try {
      const object = await bucket.get(nameOf(address), range === null ? {} : { range });
      return object && { ...factsOf(object), body: object.body };
    } catch (error) {
      // R2 refuses a range behind the end with an error that it does not promise to name the same for ever.
      const object = range && (await bucket.head(nameOf(address)));
      if (!object || sliceOf(range, object.size) !== null) throw error;
      return { ...factsOf(object), body: null };
    }
  },

  async remove(files) {
    for (const file of files) {
      // One that was completed or removed before cannot be aborted, and one that is missed R2 removes after a week.
      if (file.uploadId !== null) {
        await bucket
          .resumeMultipartUpload(nameOf(file), file.uploadId)
          .abort()
          .catch(() => {});
      }
    }
    await bucket.delete(files.map(nameOf));
  },
});
