/** A stand-in for Cloudflare's API, as far as `npm run deploy` uses it: one account, with D1 on real SQLite. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";

export const ACCOUNT = { id: "0123456789abcdef0123456789abcdef", token: "a-token-of-the-tests" } as const;

interface Found {
  readonly code: number;
  readonly message: string;
}

export class CloudflareAccount {
  readonly databases = new Map<string, { readonly name: string; readonly rows: DatabaseSync }>();
  readonly buckets = new Set<string>();
  readonly secrets = new Set<string>();
  /** The metadata of each upload of the Worker, oldest first. */
  readonly uploads: Record<string, unknown>[] = [];
  readonly schedules: string[] = [];
  /** The own domains that lead to the Worker. */
  readonly domains = new Set<string>();
  readonly unknown: string[] = [];
  readonly #assets = new Set<string>();

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
    if (at === "GET /memberships") return [];
    if (at === "GET /d1/database") return this.#listDatabases(query.get("name"));
    if (at === "POST /d1/database") return this.#createDatabase(String((await json()).name));
    if (kind === "d1/database" && at.endsWith("/query")) return this.#query(id ?? "", await json());
    if (kind === "d1/database") return this.#findDatabase(decodeURIComponent(id ?? ""));
    if (at === "POST /r2/buckets") {
      this.buckets.add(String((await json()).name));
      return {};
    }
    if (at === "GET /r2/buckets") return { buckets: [...this.buckets].map((name) => ({ name })) };
    if (kind === "r2/buckets") {
      return this.buckets.has(id ?? "")
        ? { name: id }
        : { code: 10_006, message: "The specified bucket does not exist." };
    }
    if (at === "GET /workers/services/atrium" || at === "GET /workers/scripts/atrium/settings") {
      if (this.uploads.length === 0)
        return { code: 10_007, message: "This Worker does not exist on your account." };
      return at.endsWith("settings")
        ? { bindings: [] }
        : {
            id: "atrium",
            default_environment: {
              environment: "production",
              script: { tag: "tag", last_deployed_from: "wrangler", tags: [] },
            },
          };
    }
    if (at === "GET /workers/scripts/atrium/secrets") {
      if (this.uploads.length === 0)
        return { code: 10_007, message: "This Worker does not exist on your account." };
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
      const metadata = JSON.parse(String(form.get("metadata"))) as {
        bindings: { type: string; name: string }[];
      };
      this.uploads.push(metadata);
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
    if (at.endsWith("/workers/subdomain")) return { subdomain: "example" };
    if (at.endsWith("/workers/scripts/atrium/subdomain")) return { enabled: true, previews_enabled: false };
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
      .map(([uuid, database]) => ({ uuid, name: database.name }));
  }

  #createDatabase(name: string) {
    const uuid = randomUUID();
    this.databases.set(uuid, { name, rows: new DatabaseSync(":memory:") });
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

const isError = (answer: object | null): answer is Found =>
  answer !== null && "code" in answer && "message" in answer;

/** Serves the account at an address of this machine, as CLOUDFLARE_API_BASE_URL has it. */
export async function serveAccount(
  account: CloudflareAccount,
): Promise<{ readonly url: string; readonly stop: () => void }> {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const answer = await account.answer(
      request.method ?? "GET",
      url.pathname.replace("/client/v4", ""),
      url.searchParams,
      request,
    );
    request.resume();
    const failed = isError(answer);
    const notFound = failed && [10_007, 7_404, 10_006, 7_003].includes(answer.code);
    response.writeHead(failed ? (notFound ? 404 : 400) : 200, { "Content-Type": "application/json" });
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
