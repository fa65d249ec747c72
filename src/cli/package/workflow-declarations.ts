/** The declarations that a workflow's author sees, as one text, for the completion of the dashboard's editor. */
import { readFile } from "node:fs/promises";
import path from "node:path";

import { PlainTypes } from "./plain-types.ts";

const SRC = path.join(import.meta.dirname, "../..");
const SCHEMAS = ["wire/room.ts", "wire/user.ts", "wire/file.ts", "wire/event-name.ts", "wire/events.ts"];

export async function workflowDeclarations(): Promise<string> {
  const plainTypes = new PlainTypes();
  const printed = await Promise.all(SCHEMAS.map((file) => plainTypes.print(file)));
  const bindings = await readFile(path.join(SRC, "sandbox/guest/types.ts"), "utf8");
  return [...printed, bindings].join("\n");
}
