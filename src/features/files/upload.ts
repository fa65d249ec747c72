/** Parses an upload's form while it arrives: its fields, then the file's bytes. */

import { AppError } from "@atrium/contract/errors.ts";
import { MAX_FILE_BYTES } from "@atrium/contract/resources/file.ts";
import { UploadFields } from "@atrium/contract/rest/files.ts";
import type { Form, Part } from "../../http/form/form.ts";
import { checkBody } from "../../http/request-input.ts";
import { PART_BYTES } from "./blob-writer.ts";
import { cleanName } from "./file-name.ts";
import { cleanType } from "./storage/media-type.ts";

const MAX_FIELD_BYTES = 8 * 1024;
const MEBIBYTE = 1024 * 1024;

interface FileHead {
  readonly filename: string;
  readonly mimeType: string;
}

export type Upload = UploadFields & FileHead;

interface UploadReceiver {
  /** Called once, as soon as all fields are known; throws to reject the upload. */
  begin(upload: Upload): void;
  /** Receives the file's next bytes: at most {@link PART_BYTES} of them before {@link begin}. */
  write(bytes: Uint8Array): Promise<void>;
}

const FIELD_NAMES = Object.keys(UploadFields.shape);

const invalid = (message: string) => new AppError("Files", "VALIDATION_ERROR", message);
const malformed = (message: string) => new AppError("Files", "BAD_REQUEST", message);

export const FILE_TOO_LARGE = `file is larger than ${MAX_FILE_BYTES} bytes (${MAX_FILE_BYTES / MEBIBYTE} MiB); send a smaller one`;

const FIELDS_COME_FIRST = `roomId and userId must come before a file of more than ${PART_BYTES / MEBIBYTE} MiB in the form`;

/**
 * Reads a form to its end. VALIDATION_ERROR for a missing or invalid field or file, BAD_REQUEST for a
 * malformed form.
 */
export async function readUpload(form: Form, receiver: UploadReceiver): Promise<void> {
  const fields = new Map<string, string>();
  const begin = (file: FileHead) =>
    receiver.begin({ ...checkBody(UploadFields, Object.fromEntries(fields), "Files"), ...file });
  let file: FileHead | undefined;
  let hasBegun = false;
  for await (const part of form.parts()) {
    if (isFile(part)) {
      if (file !== undefined) throw invalid("file must be sent only once; send each file in its own request");
      file = headOf(part);
      hasBegun = FIELD_NAMES.every((name) => fields.has(name));
      if (hasBegun) begin(file);
      await receiveFile(part, receiver, hasBegun);
    } else {
      if (fields.has(part.name)) throw invalid(`${part.name} must be sent only once`);
      if (!FIELD_NAMES.includes(part.name)) throw invalid(`${part.name}: is not a known field`);
      fields.set(part.name, await readField(part));
    }
  }
  if (file === undefined) throw invalid("file is required: send it as a form part with a filename");
  if (!hasBegun) begin(file);
}

/** True for the file. An empty file input of a browser also has a filename: the empty string. */
function isFile({ name, filename }: Part): boolean {
  if (name === "file") return true;
  if (filename === undefined || filename === "") return false;
  throw invalid("file must be the name of the form part with the file; no other part may be a file");
}

function headOf({ filename, contentType }: Part): FileHead {
  if (filename === undefined) throw invalid("file must have a filename in its form part");
  const name = cleanName(filename);
  if (name === "") throw invalid("file must have a filename that is not empty");
  return { filename: name, mimeType: cleanType(contentType) };
}

async function receiveFile(part: Part, receiver: UploadReceiver, hasBegun: boolean): Promise<void> {
  let size = 0;
  for await (const bytes of part.bytes()) {
    size += bytes.byteLength;
    if (size > MAX_FILE_BYTES) throw malformed(FILE_TOO_LARGE);
    if (size > PART_BYTES && !hasBegun) throw malformed(FIELDS_COME_FIRST);
    await receiver.write(bytes);
  }
}

async function readField(part: Part): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let value = "";
  let size = 0;
  for await (const bytes of part.bytes()) {
    size += bytes.byteLength;
    if (size > MAX_FIELD_BYTES) throw invalid(`${part.name} must have at most ${MAX_FIELD_BYTES} bytes`);
    value += decode(() => decoder.decode(bytes, { stream: true }));
  }
  return value + decode(() => decoder.decode());
}

function decode(text: () => string): string {
  try {
    return text();
  } catch {
    throw malformed("The form has a field that is not valid UTF-8");
  }
}
