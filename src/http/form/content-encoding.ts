/** Refuses encoded content, such as a compressed body: it would be read as garbage. */
import { AppError, type Module } from "@atrium/contract/errors.ts";

/** Encodings that leave bytes as they are. */
const PLAIN: ReadonlySet<string> = new Set(["", "identity", "binary", "8bit", "7bit"]);

/** UNSUPPORTED_MEDIA_TYPE for content that this header calls encoded. */
export function refuseEncoding(header: string, value: string | null | undefined, module: Module): void {
  if (PLAIN.has((value ?? "").trim().toLowerCase())) return;
  const why = `${header}: ${value} is not supported; send the content without it`;
  throw new AppError(module, "UNSUPPORTED_MEDIA_TYPE", why);
}
