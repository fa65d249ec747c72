/**
 * A stand-in for Cloudflare's API, as far as `npm run deploy` uses it: one account, with D1 on real SQLite. Its
 * circumstances are those that operators of real accounts meet, with Cloudflare's codes for them.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";

export const ACCOUNT = { id: "0123456789abcdef0123456789abcdef", token: "a-token-of-the-tests" } as const;

interface Found {
  readonly code: number;
  readonly message: string;
}

interface StoredDatabase {
  readonly name: string;
  readonly jurisdiction: string | null;
  readonly location: string | null;
  readonly rows: DatabaseSync;
}

type Product = "workers" | "d1" | "r2" | "billing";

/** An error that passes by itself: a code, or null for a connection that breaks. */
interface Trouble {
  /** The requests that meet it, such as "POST /d1/database". */
  readonly at: RegExp;
  readonly code: number | null;
  /** The number of requests that still meet it. */
  times: number;
}

export interface Circumstances {
  readonly plan?: "free" | "paid";
  /** The code for requests about buckets, unless R2 is enabled. Uploads of a Worker with a bucket are refused with 10136. */
  readonly r2?: 10_042 | 10_136 | "enabled";
  /** Products that the token may read and write by default. */
  readonly closed?: readonly Product[];
  /** Products that the token may read only. */
  readonly readOnly?: readonly Product[];
  /** Whether the account has a subdomain of workers.dev. */
  readonly hasSubdomain?: boolean;
  readonly hasWorkersForPlatforms?: boolean;
  /** Names of dispatch namespaces. */
  readonly namespaces?: readonly string[];
  /** The accounts of the token; empty where it may not list them. */
  readonly accounts?: readonly { readonly id: string; readonly name: string }[];
  /** The bindings of a Worker named atrium that was there before. */
  readonly worker?: readonly Binding[];
}

interface Binding {
  readonly type: string;
  readonly name: string;
}

interface Metadata {
  readonly bindings: readonly Binding[];
  readonly limits?: object;
}

const PRODUCTS: readonly (readonly [RegExp, Product])[] = [
  [/^\w+ \/d1\//, "d1"],
  [/^\w+ \/r2\//, "r2"],
  [/^\w+ \/workers\//, "workers"],
  [/^\w+ \/subscriptions/, "billing"],
];

const FORBIDDEN = { code: 10_000, message: "Authentication error" };
const NO_WORKER = { code: 10_007, message: "This Worker does not exist on your account." };

export class CloudflareAccount {
  readonly databases = new Map<string, StoredDatabase>();
  readonly buckets = new Set<string>();
  /** Where buckets were created, oldest first: a location or a jurisdiction. */
  readonly bucketPlaces: unknown[] = [];
  readonly secrets = new Set<string>();
  /** The metadata of each upload of the Worker, oldest first. */
  readonly uploads: Record<string, unknown>[] = [];
  readonly schedules: string[] = [];
  /** The own domains that lead to the Worker. */
  readonly domains = new Set<string>();
  readonly unknown: string[] = [];
  /** Errors to come. */
  readonly troubles: Trouble[] = [];
  /** Called at each request, which its answer waits for. */
  onRequest: (at: string) => Promise<void> = async () => undefined;
  readonly #assets = new Set<string>();
  readonly #circumstances: Required<Circumstances>;

  constructor(circumstances: Circumstances = {}) {
    this.#circumstances = {
      plan: "paid",
      r2: "enabled",
      closed: [],
      readOnly: [],
      hasSubdomain: true,
      hasWorkersForPlatforms: false,
      namespaces: [],
      accounts: [{ id: ACCOUNT.id, name: "Example" }],
      worker: [],
      ...circumstances,
    };
  }

  /** A database that something other than the deployment has created. */
  addDatabase(name: string, sql: string, jurisdiction: string | null = null): void {
    const { uuid } = this.#createDatabase({ name, jurisdiction });
    this.databases.get(uuid)?.rows.exec(sql);
  }

  /** Whether nothing was created or changed. */
  get isUntouched(): boolean {
    return this.databases.size + this.buckets.size + this.secrets.size + this.uploads.length === 0;
  }

  get #bindings(): readonly Binding[] | null {
    const { worker } = this.#circumstances;
    const uploaded = this.uploads.at(-1) as unknown as Metadata | undefined;
    return uploaded?.bindings ?? (worker.length > 0 ? worker : null);
  }

  /** The error of a request that Cloudflare refuses before it looks at it. */
  #refuse(at: string, token: string | undefined): Found | "broken" | null {
    if (token !== `Bearer ${ACCOUNT.token}`) {
      return at.endsWith("/tokens/verify")
        ? { code: 1_000, message: "Invalid API Token" }
        : { code: 9_109, message: "Invalid access token" };
    }
    const trouble = this.troubles.find((each) => each.times > 0 && each.at.test(at));
    if (trouble !== undefined) {
      trouble.times -= 1;
      if (trouble.code === null) return "broken";
      return { code: trouble.code, message: TROUBLES[trouble.code] ?? "Service unavailable" };
    }
    const { closed, readOnly, r2, hasWorkersForPlatforms } = this.#circumstances;
    const [, product] = PRODUCTS.find(([path]) => path.test(at)) ?? [];
    const isReading = at.startsWith("GET ") || at.endsWith("/query");
    if (product !== undefined && (closed.includes(product) || (readOnly.includes(product) && !isReading)))
      return FORBIDDEN;
    if (product === "r2" && r2 !== "enabled")
      return { code: r2, message: "Please enable R2 through the Cloudflare Dashboard." };
    if (at.startsWith("GET /workers/dispatch/") && !hasWorkersForPlatforms)
      return { code: 10_121, message: "You do not have access to dispatch namespaces." };
    return null;
  }

  /** The error of an upload. */
  #refuseUpload({ bindings, limits }: Metadata): Found | null {
    const { plan } = this.#circumstances;
    const has = (type: string) => bindings.some((binding) => binding.type === type);
    if (has("r2_bucket") && this.#circumstances.r2 !== "enabled")
      return {
        code: 10_136,
        message: "R2 binding error: Please enable R2 through the Cloudflare Dashboard.",
      };
    if (plan === "paid") return null;
    if (limits !== undefined)
      return { code: 100_328, message: "CPU limits are not supported for the Free plan." };
    if (has("worker_loader"))
      return { code: 10_195, message: "In order to use Dynamic Workers, you must switch to a paid plan." };
    return null;
  }

  /** Answers a request as Cloudflare does; "broken" for a connection that ends without an answer. */
  async meet(
    method: string,
    path: string,
    query: URLSearchParams,
    request: IncomingMessage,
  ): Promise<object | Found | "broken" | null> {
    const at = `${method} ${path.replace(`/accounts/${ACCOUNT.id}`, "")}`;
    await this.onRequest(at);
    // Files of the Worker are uploaded with a token of their own.
    const isUpload = at === "POST /workers/assets/upload";
    const refusal = isUpload ? null : this.#refuse(at, request.headers.authorization);
    return refusal ?? this.answer(method, path, query, request);
  }

  /** The result for a request, or the error of Cloudflare's. */
  async answer(
    method: string,
    path: string,
    query: URLSearchParams,
    request: IncomingMessage,
  ): Promise<object | Found | null> {
    const at = `${method} ${path.replace(`/accounts/${ACCOUNT.id}`, "")}`;
    const json = async () => JSON.parse((await read(request)).toString("utf8")) as Record<string, unknown>;
    const [, kind, id] = /^\w+ \/(d1\/database|r2\/buckets)\/([^/]+)/.exec(at) ?? [];
    const { plan, accounts, hasSubdomain, namespaces } = this.#circumstances;
    if (at === "GET /accounts") return accounts.length > 0 ? accounts : FORBIDDEN;
    if (at === "GET /memberships") return accounts.map((account) => ({ id: account.id, account }));
    if (at === "GET /user") return { email: "ada@example.com" };
    if (at === "GET /user/tokens/verify") return { id: "token", status: "active" };
    if (at === "GET /tokens/verify") return { code: 1_000, message: "Invalid API Token" }; // it is a person's token
    if (at === "GET /subscriptions") {
      const free = { rate_plan: { id: "free", public_name: "Free Website", scope: "zone" } };
      const workers = { rate_plan: { id: "workers_paid", public_name: "Workers Paid", scope: "account" } };
      return plan === "paid" ? [free, workers] : [free];
    }
    if (at.startsWith("GET /workers/dispatch/namespaces/"))
      return namespaces.includes(at.split("/").at(-1) ?? "")
        ? { namespace_name: at.split("/").at(-1) }
        : { code: 100_119, message: "The dispatch namespace was not found." };
    if (at === "GET /d1/database") return this.#listDatabases(query.get("name"));
    if (at === "POST /d1/database") return this.#createDatabase(await json());
    if (kind === "d1/database" && at.endsWith("/query")) return this.#query(id ?? "", await json());
    if (kind === "d1/database") return this.#findDatabase(decodeURIComponent(id ?? ""));
    if (at === "POST /r2/buckets") {
      const { name, locationHint } = await json();
      this.bucketPlaces.push(locationHint ?? request.headers["cf-r2-jurisdiction"] ?? null);
      if (this.buckets.has(String(name)))
        return { code: 10_004, message: "The bucket you tried to create already exists, and you own it." };
      this.buckets.add(String(name));
      return {};
    }
    if (at === "GET /r2/buckets") return { buckets: [...this.buckets].map((name) => ({ name })) };
    if (kind === "r2/buckets") {
      return this.buckets.has(id ?? "")
        ? { name: id }
        : { code: 10_006, message: "The specified bucket does not exist." };
    }
    if (at === "GET /workers/services/atrium" || at === "GET /workers/scripts/atrium/settings") {
      const bindings = this.#bindings;
      if (bindings === null) return NO_WORKER;
      return at.endsWith("settings")
        ? { bindings }
        : {
            id: "atrium",
            default_environment: {
              environment: "production",
              script: { tag: "tag", last_deployed_from: "wrangler", tags: [] },
            },
          };
    }
    if (at === "GET /workers/scripts/atrium/secrets") {
      if (this.uploads.length === 0) return NO_WORKER;
      return [...this.secrets].map((name) => ({ name, type: "secret_text" }));
    }
    if (at === "GET /workers/scripts")
      return this.uploads.length === 0 ? [] : [{ id: "atrium", migration_tag: "v1" }];
    if (at === "POST /workers/scripts/atrium/assets-upload-session") {
      const { manifest } = (await json()) as { manifest: Record<string, { hash: string }> };
      const hashes = Object.values(manifest).map(({ hash }) => hash);
      const missing = [...new Set(hashes)].filter((hash) => !this.#assets.has(hash));
      return { jwt: "<jwt>", buckets: missing.length === 0 ? [] : [missing] };
    }
    if (at === "POST /workers/assets/upload") {
      const form = await formOf(request);
      for (const hash of form.keys()) this.#assets.add(hash);
      return { jwt: "<complete>" };
    }
    if (at === "PUT /workers/scripts/atrium" || at === "POST /workers/scripts/atrium/versions") {
      const form = await formOf(request);
      const metadata = JSON.parse(String(form.get("metadata"))) as Metadata & Record<string, unknown>;
      const refusal = this.#refuseUpload(metadata);
      if (refusal !== null) return refusal;
      const earlier = this.#bindings ?? [];
      const inherited = ({ name }: Binding) => earlier.find((each) => each.name === name);
      const bindings = metadata.bindings.map((each) => (each.type === "inherit" && inherited(each)) || each);
      this.uploads.push({ ...metadata, bindings });
      for (const { type, name } of metadata.bindings) if (type === "secret_text") this.secrets.add(name);
      return {
        id: randomUUID(),
        tag: "tag",
        pipeline_hash: "x",
        deployment_id: randomUUID(),
        startup_time_ms: 10,
        metadata: { has_preview: true },
      };
    }
    if (at === "POST /workers/scripts/atrium/domains/changeset")
      return { added: [], removed: [], updated: [], conflicting: [] };
    if (at === "PUT /workers/scripts/atrium/domains/records") {
      const { origins } = (await json()) as { origins: readonly { hostname: string }[] };
      for (const { hostname } of origins) this.domains.add(hostname);
      return [];
    }
    if (at.startsWith("POST /workers/scripts/atrium/deployments")) return { id: randomUUID() };
    if (at === "GET /workers/workers/atrium")
      return {
        id: "atrium",
        name: "atrium",
        subdomain: { enabled: this.uploads.length > 1, previews_enabled: false },
      };
    if (at === "PATCH /workers/scripts/atrium/script-settings") return {};
    if (at === "GET /workers/subdomain")
      return hasSubdomain
        ? { subdomain: "example" }
        : { code: 10_007, message: "You do not have a workers.dev subdomain." };
    if (at.endsWith("/workers/scripts/atrium/subdomain"))
      return hasSubdomain
        ? { enabled: true, previews_enabled: false }
        : { code: 10_063, message: "You need a workers.dev subdomain in order to proceed." };
    if (at.endsWith("/workers/scripts/atrium/schedules")) {
      const schedules = (await read(request)).toString("utf8");
      this.schedules.push(schedules);
      return { schedules: [] };
    }
    if (at.startsWith("GET /workers/scripts/atrium/versions")) return { items: [] };
    if (at.startsWith("GET /workers/scripts/atrium/deployments")) return { deployments: [] };
    this.unknown.push(at);
    return { code: 7_003, message: `The stand-in does not know ${at}` };
  }

  #listDatabases(name: string | null) {
    return [...this.databases]
      .filter(([, database]) => name === null || database.name === name)
      .map(([uuid, { name, jurisdiction }]) => ({ uuid, name, jurisdiction }));
  }

  #createDatabase({ name, jurisdiction = null, primary_location_hint = null }: Record<string, unknown>) {
    const uuid = randomUUID();
    this.databases.set(uuid, {
      name: String(name),
      jurisdiction: jurisdiction as string | null,
      location: primary_location_hint as string | null,
      rows: new DatabaseSync(":memory:"),
    });
    return { uuid, name, version: "production" };
  }

  #findDatabase(idOrName: string) {
    const found = [...this.databases].find(([id, { name }]) => id === idOrName || name === idOrName);
    return found === undefined
      ? { code: 7_404, message: "Couldn't find DB with name" }
      : { uuid: found[0], name: found[1].name, version: "production" };
  }

  #query(id: string, { sql, params = [] }: Record<string, unknown>) {
    const database = this.databases.get(id);
    if (database === undefined) return { code: 7_404, message: "The database could not be found" };
    try {
      return statementsIn(String(sql)).map((text) => ({
        results: database.rows.prepare(text).all(...(params as string[])),
        success: true,
        meta: { duration: 0, changes: 0, rows_read: 0, rows_written: 0 },
      }));
    } catch (error) {
      return { code: 7_500, message: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** The statements of a text, split at semicolons that are not in a trigger. */
function statementsIn(sql: string): readonly string[] {
  const statements: string[] = [];
  let current = "";
  for (const piece of sql.split(";")) {
    current += current === "" ? piece : `;${piece}`;
    if (/create\s+trigger/i.test(current) && !/\bend\s*$/i.test(current)) continue;
    if (current.replace(/--[^\n]*/g, "").trim() !== "") statements.push(current);
    current = "";
  }
  return statements;
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function formOf(request: IncomingMessage): Promise<FormData> {
  const headers = { "Content-Type": request.headers["content-type"] ?? "" };
  return new Response(new Uint8Array(await read(request)), { headers }).formData();
}

/** The messages of errors that pass by themselves. */
const TROUBLES: Readonly<Record<number, string>> = {
  7403: "The given account is not valid or is not authorized to access this service",
  10000: FORBIDDEN.message,
};

/** HTTP status codes of Cloudflare's own codes; 400 for others. */
const STATUSES: Readonly<Record<number, number>> = {
  503: 503,
  1000: 401,
  7003: 404,
  7403: 403,
  7404: 404,
  9109: 403,
  10000: 403,
  10006: 404,
  10007: 404,
  10042: 403,
  10121: 403,
  10136: 403,
  100119: 404,
};

const isError = (answer: object | null): answer is Found =>
  answer !== null && "code" in answer && "message" in answer;

/** Serves the account at an address of this machine, as CLOUDFLARE_API_BASE_URL has it. */
export async function serveAccount(
  account: CloudflareAccount,
): Promise<{ readonly url: string; readonly stop: () => void }> {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const answer = await account.meet(
      request.method ?? "GET",
      url.pathname.replace("/client/v4", ""),
      url.searchParams,
      request,
    );
    request.resume();
    if (answer === "broken") {
      request.socket.destroy();
      return;
    }
    const failed = isError(answer);
    const status = failed ? (STATUSES[answer.code] ?? 400) : 200;
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(
      JSON.stringify({
        success: !failed,
        result: failed ? null : answer,
        errors: failed ? [answer] : [],
        messages: [],
        result_info: { page: 1, per_page: 100, count: 1, total_count: 1 },
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/client/v4`, stop: () => server.close() };
}
