/** Reads an upload's form: what the file is and whose, and its bytes as they come. */

import { checkBody } from "../http/body.ts";
import type { Form, Part } from "../http/form/form.ts";
import { AppError } from "../platform/errors.ts";
import { PART_BYTES } from "./blob-writer.ts";
import { cleanName } from "./file-name.ts";
import { cleanType } from "./media-type.ts";
import { MAX_FILE_BYTES, UploadFields } from "./schema.ts";

const MAX_FIELD_BYTES = 8 * 1024;
const MEBIBYTE = 1024 * 1024;

interface FileHead {
  readonly filename: string;
  readonly mimeType: string;
}

/** All that a form says beside the bytes. */
export type Upload = UploadFields & FileHead;

/** What becomes of a form. */
export interface UploadReceiver {
  /** Called once, as soon as all is known; throws to refuse. */
  admit(upload: Upload): void;
  /** Takes the file's next bytes; without {@link admit} before, at most {@link PART_BYTES} of them. */
  write(bytes: Uint8Array): Promise<void>;
}

const FIELD_NAMES = Object.keys(UploadFields.shape);

const invalid = (why: string) => new AppError("Files", "VALIDATION_ERROR", why);
const malformed = (why: string) => new AppError("Files", "BAD_REQUEST", why);

export const FILE_TOO_LARGE = `A file may have at most ${MAX_FILE_BYTES} bytes (${MAX_FILE_BYTES / MEBIBYTE} MiB): send a smaller one`;

const FIELDS_COME_FIRST = `roomId and userId must stand before a file of more than ${PART_BYTES / MEBIBYTE} MiB in the form`;

/**
 * Reads a form to its end. VALIDATION_ERROR when it is not what an upload needs, BAD_REQUEST when it is
 * malformed or too large; the receiver may then have had some of it.
 */
export async function readUpload(form: Form, receiver: UploadReceiver): Promise<void> {
  const fields = new Map<string, string>();
  const admit = (file: FileHead) =>
    receiver.admit({ ...checkBody(UploadFields, Object.fromEntries(fields), "Files"), ...file });
  let file: FileHead | undefined;
  let isAdmitted = false;
  for await (const part of form.parts()) {
    if (isFile(part)) {
      if (file !== undefined) throw invalid("file: one only; send each file in a request of its own");
      file = headOf(part);
      isAdmitted = FIELD_NAMES.every((name) => fields.has(name));
      if (isAdmitted) admit(file);
      await receiveFile(part, receiver, isAdmitted);
    } else {
      if (fields.has(part.name)) throw invalid(`${part.name}: one only`);
      const value = await readField(part);
      if (FIELD_NAMES.includes(part.name)) fields.set(part.name, value);
    }
  }
  if (file === undefined) throw invalid("file is required: a part of the form with a filename");
  if (!isAdmitted) admit(file);
}

/** True for the file; an input for files that was left empty has a filename too, an empty one. */
function isFile({ name, filename }: Part): boolean {
  if (name === "file") return true;
  if (filename === undefined || filename === "") return false;
  throw invalid("file: an upload's file must be in the part of this name, and be the only one");
}

function headOf({ filename, contentType }: Part): FileHead {
  if (filename === undefined) throw invalid("file: its part of the form needs a filename");
  const name = cleanName(filename);
  if (name === "") throw invalid("file: its filename is empty");
  return { filename: name, mimeType: cleanType(contentType) };
}

async function receiveFile(part: Part, receiver: UploadReceiver, isAdmitted: boolean): Promise<void> {
  let size = 0;
  for await (const bytes of part.bytes()) {
    size += bytes.byteLength;
    if (size > MAX_FILE_BYTES) throw malformed(FILE_TOO_LARGE);
    if (size > PART_BYTES && !isAdmitted) throw malformed(FIELDS_COME_FIRST);
    await receiver.write(bytes);
  }
}

async function readField(part: Part): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let value = "";
  let size = 0;
  for await (const bytes of part.bytes()) {
    size += bytes.byteLength;
    if (size > MAX_FIELD_BYTES)
      throw invalid(`${part.name}: a field may have at most ${MAX_FIELD_BYTES} bytes`);
    value += decode(() => decoder.decode(bytes, { stream: true }));
  }
  return value + decode(() => decoder.decode());
}

function decode(text: () => string): string {
  try {
    return text();
  } catch {
    throw malformed("A field of the form is not valid UTF-8");
  }
}
