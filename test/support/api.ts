/** Speaks to the Worker as its clients do, and makes the organizations that tests act for. */
import { env, exports } from "cloudflare:workers";
import type { UploadResult } from "@atrium/contract/resources/file.ts";
import type { Identity } from "@atrium/contract/resources/identity.ts";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { ApiKey, ApiKeyNarrowing } from "@atrium/contract/rest/api-keys.ts";
import type { RoomLink } from "@atrium/contract/rest/identities.ts";
import type { RoomInput } from "@atrium/contract/rest/rooms.ts";
import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import { createApiKey, fingerprintOf } from "../../src/features/accounts/api-key.ts";
import { insertKey } from "../../src/features/accounts/store.ts";
import type { ErrorDetail } from "../../src/http/envelope.ts";
import { build, openDatabase, statement } from "../../src/platform/d1/d1.ts";
import { accounts } from "../../src/platform/d1/table.ts";
import { expectDescribed } from "./described.ts";

export const ORIGIN = "https://atrium.test";

/** An answer with its envelope read. The test chooses the type of `data`. */
export interface Answer<Data = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly description: string;
  readonly success: boolean;
  readonly data: Data;
  readonly error: ErrorDetail | null;
  readonly requestId: string;
}

/** The status of a refusal, and the module and code of its error. */
export const refusalOf = ({ status, error }: Pick<Answer<unknown>, "status" | "error">) => [
  status,
  error?.module,
  error?.code,
];

export interface Options {
  readonly headers?: Record<string, string>;
}

/** The answer of an endpoint that has no envelope but for refusals, such as those of streams. */
const withoutEnvelope = <Data>({ status, headers, ok }: Response): Answer<Data> => ({
  ...{ status, headers, success: ok, error: null, data: {} as Data },
  ...{ description: "", requestId: headers.get("X-Request-Id") ?? "" },
});

/** Each client has an address of its own, so that no test uses up another's allowance of failures. */
let nextAddress = 0;
export const freshAddress = (): string => {
  nextAddress += 1;
  return `198.51.${nextAddress >> 8}.${nextAddress & 255}`;
};

/** One caller: a base path and a credential. */
export class Api {
  readonly base: string;
  readonly authorization: string | null;
  readonly address = freshAddress();
  /** Sent with every request, such as a browser's cookie. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    accountId: string,
    authorization: string | null,
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.base = `/v1/accounts/${accountId}`;
    this.authorization = authorization;
    this.headers = headers;
  }

  /** Any request; `path` follows the account's base unless it begins with /v1. */
  request(method: string, path: string, init: RequestInit = {}): Request {
    const headers = new Headers(this.headers);
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    headers.set("CF-Connecting-IP", this.address);
    if (this.authorization !== null && !headers.has("Authorization")) {
      headers.set("Authorization", this.authorization);
    }
    const url = ORIGIN + (path.startsWith("/v1") ? path : this.base + path);
    return new Request(url, { ...init, method, headers });
  }

  /** Sends one. */
  async raw(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    return exports.default.fetch(this.request(method, path, init));
  }

  async send<Data>(method: string, path: string, init: RequestInit = {}): Promise<Answer<Data>> {
    const response = await this.raw(method, path, init);
    if (!response.headers.get("Content-Type")?.startsWith("application/json"))
      return withoutEnvelope(response);
    const envelope = await response.json<Omit<Answer<Data>, "status" | "headers">>();
    const answer = { ...envelope, status: response.status, headers: response.headers };
    expectDescribed(method, path, answer);
    return answer;
  }

  async json<Data>(
    method: string,
    path: string,
    body: unknown,
    options: Options = {},
  ): Promise<Answer<Data>> {
    const headers = { "Content-Type": "application/json", ...options.headers };
    return this.send<Data>(method, path, { headers, body: JSON.stringify(body) });
  }

  get = <Data = Record<string, unknown>>(path: string, options: Options = {}) =>
    this.send<Data>("GET", path, options);
  post = <Data = Record<string, unknown>>(path: string, body: unknown = {}, options: Options = {}) =>
    this.json<Data>("POST", path, body, options);
  put = <Data = Record<string, unknown>>(path: string, body?: unknown) => this.json<Data>("PUT", path, body);
  patch = <Data = Record<string, unknown>>(path: string, body: unknown) =>
    this.json<Data>("PATCH", path, body);
  delete = <Data = Record<string, unknown>>(path: string, body?: unknown) =>
    body === undefined ? this.send<Data>("DELETE", path) : this.json<Data>("DELETE", path, body);

  async createRoom(input: Partial<RoomInput> = {}): Promise<Room> {
    const answer = await this.post<{ room: Room }>("/rooms", { name: "A room", ...input });
    return expectCreated(answer).room;
  }

  async createUser(
    roomId: string,
    input: { name?: string; customId?: string; role?: string; profilePicture?: string } = {},
  ): Promise<UserWithToken> {
    const answer = await this.post<{ user: UserWithToken }>("/users", { name: "A user", roomId, ...input });
    return expectCreated(answer).user;
  }

  /** Uploads a file as a form has it, fields first. */
  upload(fields: Record<string, string>, file: File, options: Options = {}) {
    return this.send<{ file: UploadResult }>("POST", "/upload", { ...options, body: formOf(fields, file) });
  }

  /** Deletes a file. */
  deleteFile(key: string) {
    return this.json<{ key: string }>("DELETE", "/upload", { key });
  }

  /** The same account, asked as one of its users. */
  as(token: string): Api {
    return new Api(this.base.slice("/v1/accounts/".length), `Bearer ${token}`);
  }
}

/** A form with its fields before its file. */
export function formOf(fields: Record<string, string>, ...files: readonly File[]): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const file of files) form.append("file", file);
  return form;
}

function expectCreated<Data>(answer: Answer<Data>): Data {
  if (answer.status !== 201) throw new Error(`${answer.status}: ${answer.error?.message}`);
  return answer.data;
}

export interface Redeemed {
  readonly identity: Identity;
  readonly token: string;
  readonly expires_at: string;
  readonly room_id: string;
}

/** A new link of a room, and a guest who has come by it. */
export async function makeGuest(api: Api, roomId: string, link: object = {}) {
  const path = `/rooms/${roomId}/links`;
  const made = await api.post<{ link: RoomLink; secret: string }>(path, { permissions: "editor", ...link });
  const { secret } = expectCreated(made);
  const { data: guest } = await api.post<Redeemed>("/links/redeem", { secret, name: "Gale" });
  return { ...made.data, guest };
}

/** `Authorization` for a key. */
export const bearer = (accountId: string, apiKey: string): string =>
  `Bearer ${btoa(`${accountId}:${apiKey}`)}`;

export interface Account {
  readonly id: string;
  readonly apiKey: string;
  readonly keyId: string;
  readonly api: Api;
}

/** Another key of the organization, with these permissions or for these rooms. */
export async function narrowedKey(
  { id, api }: Pick<Account, "id" | "api">,
  narrowing: ApiKeyNarrowing,
): Promise<Account> {
  const made = await api.post<{ api_key: ApiKey; key: string }>("/api-keys", { name: "Agent", ...narrowing });
  const { api_key, key: apiKey } = expectCreated(made);
  return { id, apiKey, keyId: api_key.id, api: new Api(id, bearer(id, apiKey)) };
}

/** The databases that organizations can be in. */
export type PlaceName = "DB" | "DB_2" | "DB_3";

const PLACES: readonly PlaceName[] = ["DB", "DB_2", "DB_3"];
const DEFAULT_PLACE = PLACES.find((name) => name === env.PLACE_ORGANIZATIONS_IN) ?? "DB";

/** A new organization with one API key. */
export async function account(place: PlaceName = DEFAULT_PLACE): Promise<Account> {
  const id = crypto.randomUUID();
  const keyId = crypto.randomUUID();
  const apiKey = createApiKey();
  const now = Date.now();
  const organization = { id, name: "An organization", createdAt: now };
  const key = {
    ...(await fingerprintOf(apiKey)),
    id: keyId,
    accountId: id,
    name: "Tests",
    createdAt: now,
    lastUsedAt: null,
    createdByKey: null,
    ...{ permissions: null, rooms: null },
  };
  if (place !== "DB")
    await openDatabase(env[place]).run([statement(build.insert(accounts).values(organization))]);
  const directory = openDatabase(env.DB);
  await directory.run([
    statement(build.insert(accounts).values({ ...organization, database: place })),
    insertKey({ accountId: id, db: directory }, key),
  ]);
  return { id, apiKey, keyId, api: new Api(id, bearer(id, apiKey)) };
}
