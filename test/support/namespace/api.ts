/** The API's routes, behind the token: scripts, their settings, secrets and tags. */
import { z } from "zod";
import type { NamespaceEnv } from "./env.ts";
import {
  invalid,
  noNamespace,
  noWorker,
  Refusal,
  refused,
  success,
  unauthenticated,
  unroutable,
} from "./envelope.ts";
import { type Binding, parseJson, Tags } from "./metadata.ts";
import { type Script, Scripts } from "./scripts.ts";
import { parseUpload } from "./upload.ts";

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
