/** Makes and restores backups of organizations as the operator's command does, in memory. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { inboxShardOf } from "@atrium/contract/resources/inbox.ts";
import { app } from "../../src/app.ts";
import type { Env } from "../../src/env.ts";
import {
  type BackupPlan,
  FILE_PART_BYTES,
  HEADERS,
  isObjectPart,
  OBJECTS_AT_ONCE,
  type ObjectRef,
  type ObjectSlices,
  PARTS,
  type RestorePlan,
  type RowSlice,
} from "../../src/features/backup/format.ts";
import {
  createOperatorToken,
  operatorTokenHash,
  upsertOperatorToken,
} from "../../src/features/backup/statements.ts";
import type { OperatorPurpose } from "../../src/features/backup/table.ts";
import type { ErrorDetail } from "../../src/http/envelope.ts";
import { openDatabase } from "../../src/platform/d1/d1.ts";
import { freshAddress, ORIGIN, type PlaceName } from "../support/api.ts";

export interface Sent {
  readonly json?: object;
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An operator with a token for one purpose and organization. */
export class Operator {
  readonly accountId: string;
  readonly purpose: OperatorPurpose;
  readonly token: string;
  readonly address = freshAddress();
  /** Where the service places organizations. */
  place: PlaceName = "DB";
  bindings: Env = env;

  constructor(accountId: string, purpose: OperatorPurpose, token: string) {
    this.accountId = accountId;
    this.purpose = purpose;
    this.token = token;
  }

  static async with(accountId: string, purpose: OperatorPurpose, lifetimeMs = 60_000): Promise<Operator> {
    const token = createOperatorToken();
    const row = [accountId, purpose, await operatorTokenHash(token), Date.now() + lifetimeMs] as const;
    await openDatabase(env.DB).run([upsertOperatorToken(...row)]);
    return new Operator(accountId, purpose, token);
  }

  async raw(operation: string, { json = {}, bytes, query = {}, headers = {} }: Sent = {}): Promise<Response> {
    const url = new URL(`/operator/${this.purpose}/${this.accountId}/${operation}`, ORIGIN);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const request = new Request(url, {
      method: "POST",
      headers: {
        ...headers,
        Authorization: `Bearer ${this.token}`,
        "CF-Connecting-IP": this.address,
        "Content-Type": bytes === undefined ? "application/json" : "application/octet-stream",
      },
      body: bytes ?? JSON.stringify(json),
    });
    return app.fetch(
      request,
      { ...this.bindings, PLACE_ORGANIZATIONS_IN: this.place },
      createExecutionContext(),
    );
  }

  /** `data` of the answer. Throws its error. */
  async data<Data = object>(operation: string, sent: Sent = {}): Promise<Data> {
    const { data, error } = await (await this.raw(operation, sent)).json<{
      data: Data;
      error: ErrorDetail | null;
    }>();
    if (error !== null) throw new Error(`${error.code}: ${error.message}`);
    return data;
  }

  async refusal(operation: string, sent: Sent = {}): Promise<string> {
    const response = await this.raw(operation, sent);
    const { error } = await response.json<{ error: ErrorDetail | null }>();
    return `${response.status} ${error?.code}`;
  }
}

/** Bytes as the service has signed them. */
export interface Signed {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly signature: string;
}

export async function signed(response: Response): Promise<Signed> {
  if (!response.ok) throw new Error(await response.text());
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { bytes, signature: response.headers.get(HEADERS.signature) ?? "" };
}

export const readJson = <Data>({ bytes }: Signed): Data =>
  JSON.parse(new TextDecoder().decode(bytes)) as Data;

export const sentOf = ({ bytes, signature }: Signed, query: Sent["query"] = {}): Sent => ({
  bytes,
  query,
  headers: { [HEADERS.signature]: signature },
});

export interface Archive {
  readonly accountId: string;
  readonly backupId: string;
  readonly manifest: Signed;
  readonly parts: ReadonlyMap<string, readonly Signed[]>;
  /** Parts of each file, by its key. */
  readonly files: ReadonlyMap<string, readonly Signed[]>;
  readonly refs: readonly ObjectRef[];
}

/** `before` runs before each part is read. */
export async function backUp(
  accountId: string,
  before: (part: string) => unknown = () => undefined,
): Promise<Archive> {
  const operator = await Operator.with(accountId, "backup");
  const backupId = crypto.randomUUID();
  const plan = await operator.data<BackupPlan>("begin");
  const parts = new Map<string, Signed[]>();
  const files = new Map<string, Signed[]>();
  const idsOf = (part: string) =>
    (parts.get(part) ?? []).flatMap((slice) => readJson<RowSlice>(slice).rows.map(({ id }) => String(id)));
  const refs: ObjectRef[] = [];
  for (const { name } of plan.parts) {
    await before(name);
    const slices: Signed[] = [];
    parts.set(name, slices);
    if (isObjectPart(name)) {
      const ofRows = <Kind extends ObjectRef["kind"]>(rows: string, kind: Kind) =>
        idsOf(rows).map((id) => ({ kind, id }));
      const found: ObjectRef[] =
        name === PARTS.inboxes
          ? [...new Set(idsOf("identities").map(inboxShardOf))].map((id) => ({ kind: "inbox", id }))
          : [
              ...ofRows("rooms", "room"),
              ...ofRows("webhooks", "webhook"),
              ...ofRows("workflows", "workflow"),
              ...Array.from({ length: plan.shards }, (_, shard) => ({
                kind: "log" as const,
                id: String(shard),
              })),
            ];
      refs.push(...found);
      let at: ObjectSlices["next"] = { index: 0, after: null };
      for (let left = found; left.length > 0; ) {
        const objects = left.slice(0, OBJECTS_AT_ONCE);
        const slice = await signed(
          await operator.raw("objects", { json: { backupId, part: name, objects, after: at.after } }),
        );
        slices.push(slice);
        const { next } = readJson<ObjectSlices>(slice);
        at = next ?? { index: objects.length, after: null };
        left = left.slice(at.index);
      }
      continue;
    }
    let after: RowSlice["after"] = null;
    do {
      const slice = await signed(await operator.raw("rows", { json: { backupId, part: name, after } }));
      slices.push(slice);
      const found = readJson<RowSlice>(slice);
      ({ after } = found);
      if (name === PARTS.files)
        for (const { key } of found.rows)
          files.set(String(key), await readFile(operator, backupId, String(key)));
    } while (after !== null);
  }
  const described = [...parts].map(([name, { length }]) => ({
    name,
    slices: length,
    bytes: 0,
    sha256: "0".repeat(64),
  }));
  const json = {
    backupId,
    startedAt: new Date().toISOString(),
    parts: described,
    files: { count: 0, bytes: 0 },
  };
  return {
    ...{ accountId, backupId, parts, files, refs },
    manifest: await signed(await operator.raw("finish", { json })),
  };
}

async function readFile(operator: Operator, backupId: string, key: string): Promise<Signed[]> {
  const parts: Signed[] = [];
  let size = 0;
  do {
    const offset = parts.length * FILE_PART_BYTES;
    const response = await operator.raw("file", { json: { backupId, key, offset } });
    size = Number(response.headers.get(HEADERS.fileSize));
    parts.push(await signed(response));
  } while (parts.length * FILE_PART_BYTES < size);
  return parts;
}

export const begin = ({ manifest, backupId }: Archive, operator: Operator): Promise<RestorePlan> =>
  operator.data<RestorePlan>("begin", sentOf(manifest, { backup: backupId }));

/**
 * A number of requests, or the `nth` call (from 0) of an operation before which the command is killed; "part"
 * is one of a file behind its first.
 */
export type KillPoint = number | readonly [operation: string, nth: number];

/** Says, before each request, whether the command is killed there. */
function killer(at: KillPoint): (operation: string) => boolean {
  let [left, nth] = typeof at === "number" ? [at, 0] : [Number.POSITIVE_INFINITY, at[1]];
  return (operation) => {
    left -= 1;
    if (typeof at !== "number" && operation === at[0]) nth -= 1;
    return left < 0 || nth < 0;
  };
}

/**
 * Restores an archive until it is killed, from where the one before has noted to be; true when it is complete. Each run
 * is another command, with a token of its own. `uploads` gets the names of files and their uploads.
 */
export async function restore(
  archive: Archive,
  at: KillPoint = Number.POSITIVE_INFINITY,
  place: PlaceName = "DB",
  uploads: string[] = [],
): Promise<boolean> {
  const operator = await Operator.with(archive.accountId, "restore");
  operator.place = place;
  const killed = killer(at);
  if (killed("begin")) return false;
  const { parts, position } = await begin(archive, operator);
  const [first = 0, firstSlice = 0] = position === "" ? [] : (JSON.parse(position) as number[]);
  for (const [index, part] of parts.entries()) {
    const slices = archive.parts.get(part) ?? [];
    for (const [at, slice] of slices.entries()) {
      if (index < first || (index === first && at < firstSlice)) continue;
      const operation = isObjectPart(part) ? "objects" : "rows";
      if (killed(operation)) return false;
      await operator.data(operation, sentOf(slice, { part }));
      if (part === PARTS.files) {
        const keys = readJson<RowSlice>(slice).rows.map(({ key }) => String(key));
        if (killed("missing")) return false;
        const missing = await operator.data<{ keys: string[] }>("missing", { json: { keys } });
        for (const key of missing.keys) {
          if (killed("file")) return false;
          const signedParts = archive.files.get(key) ?? [];
          if (!(await writeFile(operator, key, signedParts, { killed, uploads }))) return false;
        }
      }
      if (killed("progress")) return false;
      await operator.data("progress", { json: { position: JSON.stringify([index, at + 1]) } });
    }
  }
  for (let from = 0; from < archive.refs.length; from += OBJECTS_AT_ONCE) {
    if (killed("open")) return false;
    await operator.data("open", { json: { objects: archive.refs.slice(from, from + OBJECTS_AT_ONCE) } });
  }
  if (killed("finish")) return false;
  await operator.data("finish");
  return true;
}

export async function cancel({ accountId }: Archive): Promise<void> {
  await (await Operator.with(accountId, "restore")).data("cancel");
}

/** Sends the parts of a file; false when it was killed after the first one. */
async function writeFile(
  operator: Operator,
  key: string,
  signedParts: readonly Signed[],
  { killed, uploads }: { readonly killed: (operation: string) => boolean; readonly uploads: string[] },
): Promise<boolean> {
  type Answer = { readonly upload: string | null; readonly part: object | null };
  const parts: object[] = [];
  let upload: string | null = null;
  for (const [index, slice] of signedParts.entries()) {
    if (index > 0 && killed("part")) return false;
    const query = { key, offset: String(index * FILE_PART_BYTES), ...(upload !== null && { upload }) };
    const answer: Answer = await operator.data<Answer>("file", sentOf(slice, query));
    ({ upload } = answer);
    if (upload !== null && index === 0) uploads.push(`${operator.accountId}/${key} ${upload}`);
    if (answer.part !== null) parts.push(answer.part);
  }
  if (upload !== null) await operator.data("complete-file", { json: { key, upload, parts } });
  return true;
}
