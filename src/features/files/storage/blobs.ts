/** The bytes of files: the only module that calls R2. */
import { AppError } from "@atrium/contract/errors.ts";
import { byteLength } from "@atrium/contract/text.ts";
import { cleanType } from "./media-type.ts";
import { type RangeFrom, sliceOf } from "./range.ts";

const MAX_NAME_BYTES = 1024;

export const MAX_DELETED = 1000;

/** A file's address. The account is part of the name in R2, so a key opens nothing in another organization. */
interface BlobAddress {
  readonly accountId: string;
  readonly key: string;
}

export interface BlobFacts {
  readonly size: number;
  /** Quoted, as `ETag` has it. */
  readonly etag: string;
  readonly mimeType: string;
  /** Epoch milliseconds. */
  readonly uploadedAt: number;
}

export interface Blob extends BlobFacts {
  /** Null when the file has no byte of the range. */
  readonly body: ReadableStream | null;
}

export interface MultipartBlob {
  readonly uploadId: string;
  /** All parts but the last have the same size. */
  add(part: Uint8Array): Promise<void>;
  complete(): Promise<void>;
}

export type BlobPart = Pick<R2UploadedPart, "partNumber" | "etag">;

export type Blobs = ReturnType<typeof openBlobs>;

const nameOf = ({ accountId, key }: BlobAddress): string => `${accountId}/${key}`;

const isPossible = (address: BlobAddress): boolean => byteLength(nameOf(address)) <= MAX_NAME_BYTES;

const factsOf = ({ size, httpEtag, httpMetadata, uploaded }: R2Object): BlobFacts => ({
  size,
  etag: httpEtag,
  mimeType: cleanType(httpMetadata?.contentType),
  uploadedAt: uploaded.getTime(),
});

export const NO_STORAGE =
  'This deployment has no storage for files: its operator enables R2, removes FILES = "off" from atrium.toml, and runs `npm run deploy`';

/** Opens the bucket. Without one, `hasStorage` is false, and each method throws FORBIDDEN. */
export const openBlobs = (files: R2Bucket | undefined) => {
  const bucket = (): R2Bucket => {
    if (files === undefined) throw new AppError("Files", "FORBIDDEN", NO_STORAGE);
    return files;
  };
  return {
    hasStorage: files !== undefined,

    /** FORBIDDEN without a bucket. */
    requireStorage(): void {
      bucket();
    },

    async put(address: BlobAddress, mimeType: string, bytes: Uint8Array): Promise<void> {
      await bucket().put(nameOf(address), bytes, { httpMetadata: { contentType: mimeType } });
    },

    async begin(address: BlobAddress, mimeType: string): Promise<MultipartBlob> {
      const upload = await bucket().createMultipartUpload(nameOf(address), {
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

    resume(address: BlobAddress, uploadId: string) {
      const upload = bucket().resumeMultipartUpload(nameOf(address), uploadId);
      return {
        add: (number: number, part: Uint8Array): Promise<BlobPart> => upload.uploadPart(number, part),
        complete: async (parts: readonly BlobPart[]) => {
          await upload.complete([...parts]);
        },
      };
    },

    async head(address: BlobAddress): Promise<BlobFacts | null> {
      if (!isPossible(address)) return null;
      const object = await bucket().head(nameOf(address));
      return object && factsOf(object);
    },

    /** Null when there is no such file. */
    async get(address: BlobAddress, range: RangeFrom | null): Promise<Blob | null> {
      if (!isPossible(address)) return null;
      try {
        const object = await bucket().get(nameOf(address), range === null ? {} : { range });
        return object && { ...factsOf(object), body: object.body };
      } catch (error) {
        // R2 rejects a range past the end with an error whose name is not part of its documented interface.
        const object = range && (await bucket().head(nameOf(address)));
        if (!object || sliceOf(range, object.size) !== null) throw error;
        return { ...factsOf(object), body: null };
      }
    },

    /** Deletes at most {@link MAX_DELETED} files and the parts of their uploads. Idempotent. */
    async delete(files: readonly (BlobAddress & { readonly uploadId: string | null })[]): Promise<void> {
      for (const file of files) {
        // Aborting fails for an upload that is complete or aborted; R2 deletes any that this misses after a week.
        if (file.uploadId !== null) {
          await bucket()
            .resumeMultipartUpload(nameOf(file), file.uploadId)
            .abort()
            .catch(() => {});
        }
      }
      await bucket().delete(files.map(nameOf));
    },
  };
};
