/** `npm run account -- create`, `-- limits`, `-- end-tokens`, `-- password-link`, `-- export-person` and `-- delete-person`, with and without a running service. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseArguments, USAGE } from "../../src/cli/account-commands.ts";
import { isOrganizationName, parseLimits } from "../../src/cli/organization.ts";
import { UsageError } from "../../src/cli/process/command.ts";
import { BackupStory } from "./backup-story.ts";
import { query } from "./database.ts";
import { createOrganization, signInOwner } from "./owner.ts";
import { runCli } from "./processes.ts";
import { createAccount, type Organization, startService } from "./service.ts";
import { preparedState } from "./shared-service.ts";

const service = await startService({ preparedState: await preparedState() });
const cookie = await signInOwner(service);

afterAll(() => service.kill());

const requestRooms = (organization: Organization, init: RequestInit = {}): Promise<Response> =>
  fetch(`${service.url}/v1/accounts/${organization.accountId}/rooms`, {
    ...init,
    headers: { Authorization: `Bearer ${organization.bearer}`, "Content-Type": "application/json" },
  });

async function create<Data>(
  { accountId, bearer }: Organization,
  things: "rooms" | "users",
  body: object,
): Promise<Data> {
  const response = await fetch(`${service.url}/v1/accounts/${accountId}/${things}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { Authorization: `Bearer ${bearer}`, "Content-Type": "application/json" },
  });
  return ((await response.json()) as { data: Data }).data;
}

const createRoom = (name: string): Promise<Response> =>
  requestRooms(service, { method: "POST", body: JSON.stringify({ name }) });

const newOrganization = (): Promise<Organization> => createOrganization(service.url, cookie);

const story = new BackupStory(() => service, newOrganization);

it("backs an organization up while it is in use", () => story.backUp());

describe("while the service runs", () => {
  it("creates organizations that can be used at once, even while the service writes", async () => {
    for (let round = 1; round <= 2; round++) {
      const [organization, ...answers] = await Promise.all([
        createAccount(service, `Round ${round}`),
        ...Array.from({ length: 20 }, (_, index) => createRoom(`Room ${round}.${index}`)),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
      expect((await requestRooms(organization)).status).toBe(200);
    }
    const [row] = query<{ rooms: number }>(service.persistTo, "SELECT count(*) AS rooms FROM rooms");
    expect(row).toEqual({ rooms: 40 });
  });

  it("prints the ID, the key and the header, and stores only the key's hash", async () => {
    const { stdout, exitCode } = await runCli("account.ts", [
      "create",
      "Acme",
      "--persist-to",
      service.persistTo,
    ]);
    expect(exitCode).toBe(0);
    const [, accountId = ""] = /Account ID {2}(\S+)/.exec(stdout) ?? [];
    const [, apiKey = ""] = /API key {5}(\S+)/.exec(stdout) ?? [];
    const [, bearer = ""] = /Authorization: Bearer (\S+)/.exec(stdout) ?? [];
    expect((await requestRooms({ accountId, apiKey, bearer })).status).toBe(200);
    const sql = `SELECT * FROM api_keys WHERE account_id = '${accountId}'`;
    const rows = query<{ name: string }>(service.persistTo, sql);
    expect(rows).toMatchObject([{ name: "First key" }]);
    expect(JSON.stringify(rows)).not.toContain(apiKey);
  });

  it("prints one line of JSON with --json", async () => {
    const { stdout } = await runCli("account.ts", [
      "create",
      "Acme",
      "--json",
      "--persist-to",
      service.persistTo,
    ]);
    expect(stdout).toMatch(/^\{"accountId":"[0-9a-f-]{36}","apiKey":"atrium_sk_\w+"\}\n$/);
  });
});

describe("the limits of an organization", () => {
  const limits = (...args: string[]) =>
    runCli("account.ts", ["limits", ...args, "--persist-to", service.persistTo]);

  it("are shown with what is used, are set, and go back to the default", async () => {
    const organization = await newOrganization();
    const create = () =>
      requestRooms(organization, { method: "POST", body: JSON.stringify({ name: "A room" }) });
    expect((await create()).status).toBe(201);
    const { stdout, stderr } = await limits(
      ...[
        organization.accountId,
        "rooms=1",
        "invitations=5",
        "file_bytes=1000000000000",
        "requests_per_second=500",
      ],
    );
    expect(stderr).toBe("");
    expect(stdout.split("\n").map((line) => line.trim().replace(/ +/g, " "))).toEqual([
      "rooms 1 of 1",
      "users 0 of the default",
      "webhooks 0 of the default",
      "workflows 0 of the default",
      "members 1 of the default",
      "invitations 0 of 5",
      "api_keys 1 of the default",
      "file_bytes 0 of 1000000000000",
      "store_bytes 0 of the default",
      "online_users 0 of the default",
      "waiting_events 0 of the default",
      "waiting_bytes 0 of the default",
      expect.stringMatching(/^requests_per_second \d+ of 500$/),
      "",
    ]);
    expect((await create()).status).toBe(403);
    const { stdout: json } = await limits(organization.accountId, "rooms=default", "--json");
    expect(JSON.parse(json)).toContainEqual({ quota: "rooms", used: 1, limit: null });
    expect((await create()).status).toBe(201);
  });

  it("are not set to what is no number, or for no quota", async () => {
    const { exitCode, stderr } = await limits(crypto.randomUUID(), "rooms=1 OR 1");
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("rooms=1 OR 1: write NAME=VALUE")]);
    for (const change of ["rooms", "rooms=-1", "rooms=1.5", "windows=1"])
      expect(() => parseLimits([change])).toThrow(`${change}: write NAME=VALUE`);
  });

  it("stay where they are when the organization is to move to where it is, or to no database", async () => {
    const { accountId } = await newOrganization();
    const move = (to: string) =>
      runCli("account.ts", ["move", accountId, "--to", to, "--persist-to", service.persistTo]);
    expect(await move("DB")).toMatchObject({ exitCode: 0, stdout: "The organization is in DB.\n" });
    expect(await move("DB_2")).toMatchObject({
      exitCode: 2,
      stderr: "DB_2 is no database of wrangler.toml: it has DB.\n",
    });
  });

  it("belong to an organization that exists", async () => {
    expect(await limits("no' OR '1")).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "No organization has the ID no' OR '1; the dashboard shows it under Settings.\n",
    });
  });
});

describe("the tokens of an organization's users", () => {
  const endTokens = (...args: string[]) =>
    runCli("account.ts", ["end-tokens", ...args, "--persist-to", service.persistTo]);
  const statusWith = async (organization: Organization, roomId: string, token: string) => {
    const url = `${service.url}/v1/accounts/${organization.accountId}/users?roomId=${roomId}`;
    return (await fetch(url, { headers: { Authorization: `Bearer ${token}` } })).status;
  };

  it("are ended by the operator, of this organization only", async () => {
    const organizations = await Promise.all([newOrganization(), newOrganization()]);
    const users = await Promise.all(
      organizations.map(async (organization) => {
        const { room } = await create<{ room: { id: string } }>(organization, "rooms", { name: "A room" });
        const body = { name: "Ada", roomId: room.id };
        const { token } = await create<{ token: string }>(organization, "users", body);
        return { organization, roomId: room.id, token };
      }),
    );
    const statuses = () =>
      Promise.all(users.map(({ organization, roomId, token }) => statusWith(organization, roomId, token)));
    expect(await statuses()).toEqual([200, 200]);
    const [first] = users;
    if (first === undefined) throw new Error("No user");
    const online = `UPDATE rooms SET active_participants = 1 WHERE id = '${first.roomId}'`;
    query(service.persistTo, online);
    const { stdout, stderr } = await endTokens(first.organization.accountId);
    expect([stdout, stderr]).toEqual([
      "Ended the tokens of all users. The sockets of the room with users online close within about a minute.\n",
      "",
    ]);
    expect(await statuses()).toEqual([401, 200]);
  });

  it("belong to an organization that exists", async () => {
    expect(await endTokens(crypto.randomUUID())).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("No organization has the ID"),
    });
  });
});

describe("a link for a new password", () => {
  const link = (email: string) =>
    runCli("account.ts", ["password-link", email, "--persist-to", service.persistTo, "--json"]);

  it("lets a person who signs in with the address choose one, whatever they are a member of", async () => {
    const signIn = (password: string) =>
      fetch(`${service.url}/dashboard/api/sign-in`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Origin: service.url },
        body: JSON.stringify({ email: "demo@atrium.example", password }),
      });
    const { path } = JSON.parse((await link("Demo@atrium.example")).stdout) as { path: string };
    const changed = await fetch(service.url + path.replace("/dashboard", "/dashboard/api"), {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: service.url },
      body: JSON.stringify({ password: "a new password" }),
    });
    expect([changed.status, (await signIn("a new password")).status]).toEqual([200, 200]);
  });

  it("is for a person who exists", async () => {
    expect(await link("no' OR '1")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("No person has the address no' OR '1; "),
    });
  });
});

describe("a name", () => {
  it("may contain quotes, SQL, flags, newlines and 255 characters of any kind", async () => {
    const names = [
      `'); DROP TABLE accounts;-- O'Hara & "Söhne" \`x\` $HOME %s ; -- /* 🦊\ntwo\nlines;\nand 'more`,
      "--json",
      "🎉".repeat(255),
    ];
    const made = await Promise.all(names.map((name) => createAccount(service, name)));
    const rows = query<{ id: string; name: string }>(service.persistTo, "SELECT id, name FROM accounts");
    const nameOf = new Map(rows.map(({ id, name }) => [id, name]));
    expect(made.map(({ accountId }) => nameOf.get(accountId))).toEqual(names);
  });

  it("may not be empty, or longer than 255 characters", async () => {
    expect(await runCli("account.ts", ["create", "", "--persist-to", service.persistTo])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: "NAME must have 1 to 255 characters, none of them NUL.\n",
    });
    expect([isOrganizationName("x".repeat(255)), isOrganizationName("x".repeat(256))]).toEqual([true, false]);
  });
});

describe("while no service runs", () => {
  it("creates the tables first", async () => {
    const persistTo = await mkdtemp(path.join(tmpdir(), "atrium-"));
    const { accountId } = await createAccount({ persistTo }, "Early");
    expect(query(persistTo, "SELECT id FROM accounts")).toEqual([{ id: accountId }]);
    await rm(persistTo, { recursive: true });
  });

  it("answers what it does not understand with the usage line", async () => {
    expect(await runCli("account.ts", ["delete", "Acme"])).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: `${USAGE}\n`,
    });
  });

  it.each([
    [[]],
    [["create"]],
    [["limits"]],
    [["end-tokens"]],
    [["end-tokens", "x", "y"]],
    [["backup", "x", "y", "--cancel"]],
    [["create", "Acme", "Corp"]],
    [["create", "Acme", "--nope"]],
    [["create", "Acme", "--persist-to"]],
    [["create", "Acme", "--persist-to="]],
    [["create", "Acme", "--remote", "--persist-to=x"]],
  ])("does not understand %j", (args) => {
    expect(() => parseArguments(args)).toThrow(new UsageError(USAGE));
  });
});

describe("a person", () => {
  const run = (verb: string) =>
    runCli("account.ts", [verb, "Demo@atrium.example", "--persist-to", service.persistTo]);

  it("is exported by the operator, one JSON object a line", async () => {
    const { stdout } = await run("export-person");
    const records = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(records[0]).toMatchObject({ type: "person", email: "demo@atrium.example" });
    expect(records.map(({ type }) => type)).toEqual(expect.arrayContaining(["password", "membership"]));
  });

  it("is not deleted while an organization would be without an owner", async () => {
    expect(await run("delete-person")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("is the only owner of"),
    });
    const people = query(service.persistTo, "SELECT 1 FROM people WHERE email = 'demo@atrium.example'");
    expect(people).toHaveLength(1);
  });
});

it("restores an organization that was deleted", () => story.restore());
