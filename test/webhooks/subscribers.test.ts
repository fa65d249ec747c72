/** Common behaviour of webhooks and workflows over REST: rooms and events, lists, and deletion. */
import { beforeEach, describe, expect, it } from "vitest";
import { type Account, account, refusalOf } from "../support/api.ts";

interface Subscriber {
  readonly id: string;
  readonly room_id: string | null;
  readonly enabled: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

const CODE = "export default async () => null;";

/** Changes of fields that only one of them has, and the values shown after each. */
const OF_WEBHOOKS = [[{ url: "https://other.example.com/" }, { url: "https://other.example.com/" }]] as const;
const OTHER_CODE = "export default () => 1;";
const OF_WORKFLOWS = [
  [{ name: "Renamed" }, { name: "Renamed" }],
  [{ code: OTHER_CODE }, { code: OTHER_CODE, version: 2 }],
  [{ retries: 5 }, { retries: 5 }],
] as const;

describe.each([
  ["webhook", "Webhooks", "url", { url: "https://hooks.example.com/a" }, OF_WEBHOOKS],
  ["workflow", "Workflows", "name", { name: "A workflow", code: CODE }, OF_WORKFLOWS],
] as const)("a %s", (kind, module, named, fields, ownChanges) => {
  const path = `/${kind}s`;
  let owner: Account;
  beforeEach(async () => {
    owner = await account();
  });

  const post = (body: object) =>
    owner.api.post<Record<string, Subscriber>>(path, { ...fields, events: ["user.created"], ...body });

  async function create(body: object = {}): Promise<Subscriber> {
    const { status, data, error } = await post(body);
    expect(status, error?.message).toBe(201);
    return data[kind] as Subscriber;
  }

  const list = async (query: Record<string, string> = {}) => {
    const { data } = await owner.api.get<Record<string, unknown>>(`${path}?${new URLSearchParams(query)}`);
    const { [`${kind}s`]: found, ...page } = data;
    return { found: found as (Subscriber & Record<string, unknown>)[], page };
  };

  it("requires a room of the organization", async () => {
    const foreign = await (await account()).api.createRoom();
    const { id } = await create();
    for (const roomId of [foreign.id, crypto.randomUUID(), "nothing"])
      for (const answer of [await post({ roomId }), await owner.api.patch(`${path}/${id}`, { roomId })])
        expect(refusalOf(answer)).toEqual([404, "Rooms", "NOT_FOUND"]);
    expect((await list()).page.total).toBe(1);
  });

  it("can be changed after its room was deleted", async () => {
    const room = await owner.api.createRoom();
    const { id } = await create({ roomId: room.id });
    await owner.api.delete(`/rooms/${room.id}`);
    const { data } = await owner.api.patch<Record<string, Subscriber>>(`${path}/${id}`, { enabled: false });
    expect(data[kind]).toMatchObject({ room_id: room.id, enabled: false });
  });

  it("accepts each field on its own, and sets updated_at", async () => {
    const { id: roomId } = await owner.api.createRoom();
    const { id } = await create();
    const one = `${path}/${id}`;
    const read = async () => (await owner.api.get<Record<string, Subscriber>>(one)).data[kind];
    let expected = await read();
    for (const [body, shown] of [
      ...ownChanges,
      [{ events: ["session.started", "session.started"] }, { events: ["session.started"] }],
      [{ roomId }, { room_id: roomId }],
      [{ enabled: false }, { enabled: false }],
      [{ enabled: false }, { enabled: false }],
      [
        { roomId: null, enabled: true },
        { room_id: null, enabled: true },
      ],
    ] as const) {
      const changed = (await owner.api.patch<Record<string, Subscriber>>(one, body)).data[kind];
      expect(changed).toEqual({ ...expected, ...shown, updated_at: changed?.updated_at });
      expect(Date.parse(changed?.updated_at ?? "")).toBeGreaterThan(Date.parse(expected?.updated_at ?? ""));
      expected = changed;
    }
    expect(await read()).toEqual(expected);
  });

  it.each([[[]], [["user.renamed"]], [["user.created", "*"]], ["user.created"], [[null]], [undefined]])(
    "asks for events that there are, not %j",
    async (events) => {
      const answer = await post({ events });
      expect([answer.status, answer.error?.code]).toEqual([400, "VALIDATION_ERROR"]);
      expect(answer.error?.message).toContain("events");
    },
  );

  it("is listed newest first, by page", async () => {
    const made = [await create(), await create(), await create()];
    const ids = made
      .toSorted((a, b) => b.created_at.localeCompare(a.created_at) || (a.id < b.id ? 1 : -1))
      .map(({ id }) => id);
    const all = await list();
    expect([all.found.map(({ id }) => id), all.page]).toEqual([ids, { total: 3, limit: 50, offset: 0 }]);
    const second = await list({ limit: "1", offset: "1" });
    expect(second).toEqual({ found: all.found.slice(1, 2), page: { total: 3, limit: 1, offset: 1 } });
  });

  it(`is found by a part of its ${named}, literally and in any case`, async () => {
    const values = ["100%_a\\b", "Ünder way", "1000"].map((text) =>
      named === "url" ? `https://b.example.com/${text}` : text,
    );
    for (const value of values) await create({ [named]: value });
    const found = async (search: string) => (await list({ search })).found.map((each) => each[named]);
    expect(await found("100%")).toEqual(values.slice(0, 1));
    expect(await found("%_A\\B")).toEqual(values.slice(0, 1));
    expect(await found("üNDER")).toEqual(values.slice(1, 2));
    expect(await found("nowhere")).toEqual([]);
    expect((await found("")).length).toBe(3);
  });

  it("is deleted once by concurrent requests, and is gone then", async () => {
    const { id } = await create();
    const one = `${path}/${id}`;
    const answers = await Promise.all(Array.from({ length: 6 }, () => owner.api.delete(one)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404, 404, 404]);
    expect(answers.find(({ success }) => success)?.data).toEqual({});
    const run = { event: "session.started", data: { roomId: crypto.randomUUID() } };
    for (const gone of [
      await owner.api.get(one),
      await owner.api.get(`${one}/${kind === "webhook" ? "deliveries" : "executions"}`),
      await owner.api.patch(one, { enabled: true }),
      await (kind === "webhook" ? owner.api.post(`${one}/test`) : owner.api.post(`${one}/run`, run)),
    ]) {
      const said = [gone.status, gone.error?.module, gone.error?.message];
      expect(said).toEqual([404, module, `${kind === "webhook" ? "Webhook" : "Workflow"} not found`]);
    }
    expect((await list()).page.total).toBe(0);
  });
});
