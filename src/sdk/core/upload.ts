/** Uploads a file over REST, with progress and a way to abort it. */
import type { UploadResult } from "../wire/resources.ts";
import { invalid } from "./error.ts";
import type { Rest } from "./rest.ts";

const MAX_FILE_BYTES = 100 * 1024 * 1024;

/** The progress of an upload, in bytes. */
export interface Progress {
  readonly loaded: number;
  readonly total: number;
}

/** Filters a list of files; a file must match all fields. */
export interface FileFilter {
  /** A media type such as `image/png`, or a category such as `image/`; with several, any of them matches. */
  readonly mimeType?: string | readonly string[] | undefined;
  /** The id of the user who uploaded the file. */
  readonly userId?: string | undefined;
}

export interface FileUpload {
  readonly roomId: string;
  readonly userId: string;
  readonly file: Blob;
  readonly filename: string;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Settles with `work`, or at once with the reason of an aborted signal: work can wait for a retry. */
function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Stores a file in a room. Throws VALIDATION_ERROR for a file that is too large or has no name. */
export async function uploadFile(rest: Rest, upload: FileUpload): Promise<UploadResult> {
  const { roomId, userId, file, filename, onProgress, signal } = upload;
  const total = file.size;
  if (total > MAX_FILE_BYTES) throw invalid("Files", `file must have at most ${MAX_FILE_BYTES} bytes`);
  if (filename === "") throw invalid("Files", "filename is missing: pass one, as the file has no name");
  const form = new FormData();
  form.append("roomId", roomId);
  form.append("userId", userId);
  form.append("file", file, filename);
  // The sent bytes include the form around the file.
  const onSent = onProgress && ((bytes: number) => onProgress({ loaded: Math.min(bytes, total), total }));
  const request = { method: "POST", path: ["upload"], upload: { form, onSent, signal } } as const;
  const uploading = rest.request<{ file: UploadResult }>(request);
  const { file: stored } = await (signal ? unlessAborted(uploading, signal) : uploading);
  onSent?.(total);
  return stored;
}
