/** Takes an upload apart, and loads what it holds to see whether it would run. */
import { loadScript } from "./dispatcher.ts";
import type { NamespaceEnv } from "./env.ts";
import { badName, invalid, noHandlers, tooLarge } from "./envelope.ts";
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

/** Stands before the main module, and tells what it can be called for; a class has its methods on its prototype. */
const PROBE = "__probe__.js";
const probeFor = (main: string) => `
  import { WorkerEntrypoint } from "cloudflare:workers";
  import * as script from ${JSON.stringify(`./${main}`)};
  const { default: handler = {} } = script;
  export default class extends WorkerEntrypoint {
    handlers() {
      return Object.getOwnPropertyNames(typeof handler === "function" ? handler.prototype : handler);
    }
  }
`;

/** Of which a script must have one to be uploaded, however it is called later. */
const HANDLERS = ["fetch", "scheduled", "queue", "email", "tail", "trace", "tailStream"];

/** Evaluates it, beside a probe. */
async function mustLoad(script: Omit<Script, "etag" | "modifiedOn">, env: NamespaceEnv): Promise<void> {
  const { metadata, modules } = script;
  const content = Buffer.from(probeFor(metadata.main_module)).toString("base64");
  const probed = {
    ...script,
    metadata: { ...metadata, main_module: PROBE },
    modules: [...modules, { name: PROBE, type: "application/javascript+module", content }],
    etag: crypto.randomUUID(),
    modifiedOn: "",
  };
  let handlers: readonly string[];
  try {
    const probe = loadScript(probed, env) as unknown as { handlers(): Promise<string[]> };
    handlers = await probe.handlers();
  } catch (error) {
    const reason = (error as Error).message.replace(/^Failed to start Worker:\s*/, "");
    throw invalid(reason.trim());
  }
  if (!handlers.some((name) => HANDLERS.includes(name))) throw noHandlers();
}
