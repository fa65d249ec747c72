/** The API's routes, behind the token: scripts, their settings, secrets and tags. */
import { z } from "zod";
import { loadScript } from "./dispatcher.ts";
import type { NamespaceEnv } from "./env.ts";
import {
  badName,
  invalid,
  noHandlers,
  noNamespace,
  noWorker,
  Refusal,
  refused,
  success,
  tooLarge,
  unauthenticated,
  unroutable,
} from "./envelope.ts";
import { type Binding, parseJson, parseMetadata, Tags } from "./metadata.ts";
import { type Script, type ScriptModule, Scripts } from "./scripts.ts";

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

const PATH =
  /^\/client\/v4\/accounts\/([^/]+)\/workers\/dispatch\/namespaces\/([^/]+)\/scripts(?:\/([^/]+)(?:\/(settings|secrets|tags)(?:\/([^/]+))?)?)?$/;

/** Workers of the account that are in no namespace. */
const OTHERS = /^\/client\/v4\/accounts\/[^/]+\/workers\/scripts\//;

/** What a call is about. */
interface Call {
  readonly request: Request;
  readonly query: URLSearchParams;
  readonly scripts: Scripts;
  readonly env: NamespaceEnv;
  /** Of the script; empty for all of them. */
  readonly name: string;
  /** Of the secret; empty for all of them. */
  readonly item: string;
}

type Route = (call: Call) => Promise<Response>;

/** `METHOD`, and what follows the script's name. */
const ROUTES: Readonly<Record<string, Route>> = {
  "GET scripts": async ({ scripts, query }) => {
    const listed = await scripts.list(query.get("tags"));
    return success(listed.map(present), { count: listed.length, cursor: "" });
  },
  "DELETE scripts": async ({ scripts, query }) => {
    if (!query.get("tags")) throw invalid("tags: which scripts to delete must be said");
    const listed = await scripts.list(query.get("tags"));
    for (const { name } of listed) await scripts.delete(name);
    return success(null, { count: listed.length });
  },
  "GET script": async ({ scripts, name, env }) => {
    const script = await scripts.get(name);
    return success({
      dispatch_namespace: env.NAMESPACE,
      script: present(script),
      created_on: script.createdOn,
    });
  },
  "PUT script": async ({ request, query, scripts, name, env }) => {
    const startedAt = Date.now();
    const uploaded = await parseUpload(name, request, await scripts.find(name), env);
    const script = await scripts.put(uploaded);
    return success({
      ...present(script),
      startup_time_ms: Date.now() - startedAt,
      deployment_id: script.etag.replaceAll("-", ""),
      ...(query.get("excludeScript") !== "true" && { script: mainTextOf(script) }),
    });
  },
  "DELETE script": async ({ scripts, name }) => {
    await scripts.delete(name);
    return success(null);
  },
  "GET settings": async ({ scripts, name }) => success(settingsOf(await scripts.get(name))),
  "PATCH settings": async ({ request, scripts, name }) => {
    const script = await scripts.get(name);
    const part = (await request.formData()).get("settings");
    const text = part === null || typeof part === "string" ? (part ?? "") : await part.text();
    const { tags } = z.object({ tags: Tags.optional() }).parse(parseJson(text));
    const metadata = { ...script.metadata, ...(tags && { tags }) };
    return success(settingsOf(await scripts.put({ ...script, metadata })));
  },
  "GET secrets": async ({ scripts, name }) => success(secretsOf(await scripts.get(name))),
  "PUT secrets": async ({ request, scripts, name }) => {
    const script = await scripts.get(name);
    const secret = Secret.parse(parseJson(await request.text()));
    const others = script.metadata.bindings.filter((binding) => binding.name !== secret.name);
    await scripts.put({ ...script, metadata: { ...script.metadata, bindings: [...others, secret] } });
    return success({ name: secret.name, type: secret.type });
  },
  "DELETE secrets": async ({ scripts, name, item }) => {
    const script = await scripts.get(name);
    const bindings = script.metadata.bindings.filter(({ name }) => name !== item);
    await scripts.put({ ...script, metadata: { ...script.metadata, bindings } });
    return success(null);
  },
  "GET tags": async ({ scripts, name }) => success((await scripts.get(name)).metadata.tags),
};

const Secret = z.object({ name: z.string(), type: z.literal("secret_text"), text: z.string() });

export async function answerApi(request: Request, env: NamespaceEnv): Promise<Response> {
  try {
    return await route(request, env);
  } catch (error) {
    if (error instanceof Refusal) return refused(error);
    if (error instanceof z.ZodError) return refused(invalid(z.prettifyError(error)));
    throw error;
  }
}

async function route(request: Request, env: NamespaceEnv): Promise<Response> {
  if (request.headers.get("Authorization") !== `Bearer ${env.API_TOKEN}`) throw unauthenticated();
  const { pathname, searchParams: query } = new URL(request.url);
  const [isKnown, accountId, namespace, name = "", part, item = ""] = PATH.exec(pathname) ?? [];
  if (OTHERS.test(pathname)) throw noWorker();
  if (!isKnown || accountId !== env.ACCOUNT_ID) throw unroutable(pathname);
  if (namespace !== env.NAMESPACE) throw noNamespace();
  const answer = ROUTES[`${request.method} ${part ?? (name === "" ? "scripts" : "script")}`];
  if (answer === undefined) throw unroutable(pathname);
  return answer({ request, query, scripts: new Scripts(env.SCRIPTS), env, name, item });
}

const present = ({ name, etag, createdOn, modifiedOn, metadata }: Script) => ({
  id: name,
  etag,
  created_on: createdOn,
  modified_on: modifiedOn,
  entry_point: metadata.main_module,
  ...pick(metadata),
});

const pick = ({
  compatibility_date,
  compatibility_flags,
  limits,
  tags,
  observability,
}: Script["metadata"]) => ({
  compatibility_date,
  compatibility_flags,
  limits,
  tags,
  observability,
});

const settingsOf = ({ metadata }: Script) => ({
  ...pick(metadata),
  bindings: metadata.bindings.map(hideText),
});

/** Secrets are write-only: their values are never returned. */
const hideText = (binding: Binding) =>
  binding.type === "secret_text" ? { name: binding.name, type: binding.type } : binding;

const secretsOf = ({ metadata }: Script) =>
  metadata.bindings.filter(({ type }) => type === "secret_text").map(hideText);

const mainTextOf = ({ metadata, modules }: Script): string =>
  Buffer.from(modules.find(({ name }) => name === metadata.main_module)?.content ?? "", "base64").toString();
