/** Takes an upload apart, and loads what it holds to see whether it would run. */
import { loadScript } from "./dispatcher.ts";
import type { NamespaceEnv } from "./env.ts";
import { badName, invalid, tooLarge } from "./envelope.ts";
import { parseMetadata } from "./metadata.ts";
import type { Script, ScriptModule } from "./scripts.ts";

const NAME = /^[a-z0-9_][a-z0-9_-]{0,62}$/;
const MAX_BYTES = 10 * 1024 * 1024;
/** The kinds of modules that an upload may have; others are refused. */
const MODULE_TYPES = [
  "application/javascript+module",
  "text/plain",
  "application/octet-stream",
  "application/wasm",
];
const SOURCE_MAP = "application/source-map";

/** The script that an upload describes, in place of `before`. Throws a Refusal when it would not run. */
export async function parseUpload(
  name: string,
  request: Request,
  before: Script | null,
  env: NamespaceEnv,
): Promise<Omit<Script, "etag" | "modifiedOn">> {
  if (!NAME.test(name)) throw badName();
  const form = await request.formData().catch(() => {
    throw invalid("The request body must be multipart/form-data");
  });
  const modules = await Promise.all(partsOf(form).map(parseModule));
  if (modules.reduce((sum, { content }) => sum + content.length, 0) > MAX_BYTES * (4 / 3)) throw tooLarge();
  const metadata = parseMetadata(await textOf(form.get("metadata")), before?.metadata ?? null);
  if (!modules.some((module) => module.name === metadata.main_module))
    throw invalid(`No such module "${metadata.main_module}".`);
  const script = { name, metadata, modules, createdOn: before?.createdOn ?? new Date().toISOString() };
  await mustLoad(script, env);
  return script;
}

const partsOf = (form: FormData): [string, File][] =>
  [...form].filter((part): part is [string, File] => {
    const [name, value] = part;
    return name !== "metadata" && value instanceof File && value.type !== SOURCE_MAP;
  });

async function textOf(part: string | File | null): Promise<string> {
  if (part === null) throw invalid('The upload has no part "metadata"');
  return typeof part === "string" ? part : part.text();
}

async function parseModule([name, file]: [string, File]): Promise<ScriptModule> {
  const type = file.type.split(";")[0] ?? "";
  if (!MODULE_TYPES.includes(type)) throw invalid(`${name}: modules of type ${type} are not known here`);
  return { name, type, content: Buffer.from(await file.arrayBuffer()).toString("base64") };
}

/** What a Worker that runs says of a method that it does not have. */
const HAS_STARTED = /does not implement/;

/** Asks it for a method that it does not have: to know that, it has to be evaluated. */
async function mustLoad(script: Omit<Script, "etag" | "modifiedOn">, env: NamespaceEnv): Promise<void> {
  try {
    const loaded = loadScript({ ...script, etag: crypto.randomUUID(), modifiedOn: "" }, env);
    await (loaded as unknown as { nothingOfThatName(): Promise<void> }).nothingOfThatName();
  } catch (error) {
    const { message } = error as Error;
    if (!HAS_STARTED.test(message)) throw invalid(message.replace(/^Failed to start Worker:\s*/, "").trim());
  }
}
