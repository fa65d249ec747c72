/**
 * A stand-in for a dispatch namespace of Workers for Platforms: Cloudflare's API for its scripts over HTTP, and the
 * binding that calls them. It knows the calls of the service and of `wrangler deploy`, and refuses all others.
 */
import { z } from "zod";
import { loadScript } from "./dispatcher.ts";
import { findScript, Metadata, type NamespaceEnv, type Script, type ScriptModule } from "./scripts.ts";

const NAME = /^[a-z0-9_][a-z0-9_-]{0,62}$/;
const MAX_BYTES = 10 * 1024 * 1024;
const MODULE_TYPE = "application/javascript+module";
const SOURCE_MAP = "application/source-map";

/** A refusal of Cloudflare's API. */
class Refusal extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The script or its metadata is wrong, for a reason in words. */
const invalid = (message: string) => new Refusal(400, 10021, message);
const noScript = () => new Refusal(404, 10092, "workers.api.error.dispatch_script_not_found");

/** The script of an upload. Throws a Refusal when it would not run. */
async function parseUpload(name: string, request: Request, env: NamespaceEnv): Promise<Script> {
  if (!NAME.test(name)) throw new Refusal(400, 10016, "workers.api.error.invalid_script_name");
  const form = await request.formData();
  const modules = await Promise.all(partsOf(form).map(parseModule));
  if (modules.reduce((sum, { content }) => sum + content.length, 0) > MAX_BYTES * (4 / 3))
    throw new Refusal(413, 10027, "workers.api.error.script_too_large");
  const described = form.get("metadata");
  const text = described instanceof File ? await described.text() : described;
  const metadata = Metadata.parse(JSON.parse(text ?? "null"));
  if (!modules.some((module) => module.name === metadata.main_module))
    throw invalid(`No such module "${metadata.main_module}".`);
  const script = { name, metadata, modules, etag: crypto.randomUUID() };
  await mustLoad(script, env);
  return script;
}

const partsOf = (form: FormData): [string, File][] =>
  [...form].filter((part): part is [string, File] => {
    const [name, value] = part;
    return name !== "metadata" && value instanceof File && value.type !== SOURCE_MAP;
  });

async function parseModule([name, file]: [string, File]): Promise<ScriptModule> {
  const type = file.type.split(";")[0] ?? "";
  if (type !== MODULE_TYPE) throw invalid(`${name}: modules of type ${type} are not known here`);
  return { name, type, content: Buffer.from(await file.arrayBuffer()).toString("base64") };
}

/** Stands before the main module, and lists its methods; a class has them on its prototype. */
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

/** An uploaded script must have one of these, however it is called later. */
const HANDLERS = ["fetch", "scheduled", "queue", "email", "tail", "trace", "tailStream"];

/** Evaluates it, beside a probe. */
async function mustLoad(script: Script, env: NamespaceEnv): Promise<void> {
  const { metadata, modules } = script;
  const content = Buffer.from(probeFor(metadata.main_module)).toString("base64");
  const probed = {
    ...script,
    metadata: { ...metadata, main_module: PROBE },
    modules: [...modules, { name: PROBE, type: MODULE_TYPE, content }],
  };
  let handlers: readonly string[];
  try {
    const probe = loadScript(probed, env, "probe") as unknown as { handlers(): Promise<string[]> };
    handlers = await probe.handlers();
  } catch (error) {
    const reason = (error as Error).message.replace(/^Failed to start Worker:\s*/, "");
    throw invalid(reason.trim());
  }
  if (!handlers.some((name) => HANDLERS.includes(name)))
    throw new Refusal(400, 10068, "The uploaded script has no registered event handlers.");
}

const PATH = /^\/client\/v4\/accounts\/([^/]+)\/workers\/dispatch\/namespaces\/([^/]+)\/scripts\/([^/]+)$/;

/** Workers of the account that are in no namespace: wrangler looks for one of the same name. */
const OTHERS = /^\/client\/v4\/accounts\/[^/]+\/workers\/scripts\//;

async function route(request: Request, env: NamespaceEnv): Promise<unknown> {
  if (request.headers.get("Authorization") !== `Bearer ${env.API_TOKEN}`)
    throw new Refusal(401, 10000, "Authentication error");
  const { pathname } = new URL(request.url);
  if (OTHERS.test(pathname)) throw new Refusal(404, 10007, "This Worker does not exist on your account.");
  const [, accountId, namespace, name = ""] = PATH.exec(pathname) ?? [];
  if (accountId !== env.ACCOUNT_ID) throw new Refusal(404, 7003, `Could not route to ${pathname}`);
  if (namespace !== env.NAMESPACE)
    throw new Refusal(404, 100119, "workers.api.error.dispatch_namespace_not_found");
  if (request.method === "PUT") {
    const script = await parseUpload(name, request, env);
    await env.SCRIPTS.put(name, JSON.stringify(script));
    return { id: name, etag: script.etag, startup_time_ms: 1 };
  }
  const script = await findScript(env, name);
  if (script === null) throw noScript();
  if (request.method === "DELETE") await env.SCRIPTS.delete(name);
  return { id: name, ...script.metadata };
}

export { Dispatcher } from "./dispatcher.ts";

export default {
  async fetch(request, env) {
    try {
      const result = await route(request, env);
      return Response.json({ success: true, errors: [], messages: [], result });
    } catch (error) {
      const refusal = error instanceof z.ZodError ? invalid(z.prettifyError(error)) : error;
      if (!(refusal instanceof Refusal)) throw error;
      const { status, code, message } = refusal;
      const body = { success: false, errors: [{ code, message }], messages: [], result: null };
      return Response.json(body, { status });
    }
  },
} satisfies ExportedHandler<NamespaceEnv>;
