/** The commands of `npm run account` for organizations and persons, with and without a running service. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { QUOTAS, type QuotaName } from "@atrium/contract/resources/quota.ts";
import { afterAll, describe, expect, it } from "vitest";
import { parseArguments, USAGE } from "../../../src/cli/account-commands.ts";
import { isOrganizationName, parseLimits } from "../../../src/cli/organization.ts";
import { UsageError } from "../../../src/cli/process/command.ts";
import { Customer } from "../stories/client.ts";
import { query } from "./database.ts";
import { createOrganization, signInOwner } from "./owner.ts";
import { runCli } from "./processes.ts";
import { account, createAccount, type Organization, startService } from "./service.ts";
import { preparedState } from "./shared-service.ts";

const service = await startService({ preparedState: await preparedState() });
const cookie = await signInOwner(service);

afterAll(() => service.kill());

const run = (...args: string[]) => account(service, ...args);
const runProgram = (...args: string[]) => runCli("account.ts", [...args, "--persist-to", service.persistTo]);

const newCustomer = async (): Promise<Customer> =>
  new Customer(service, await createOrganization(service.url, cookie));
const statusOfRooms = async (organization: Organization): Promise<number> =>
  (await new Customer(service, organization).send("GET", "/rooms")).status;

describe("a person", () => {
  const email = "Demo@atrium.example";

  it("is exported by the operator, one JSON object a line", async () => {
    const { stdout } = await runProgram("export-person", email);
    const records = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(records[0]).toMatchObject({ type: "person", email: "demo@atrium.example" });
    expect(records.map(({ type }) => type)).toEqual(expect.arrayContaining(["password", "membership"]));
  });

  it("is not deleted while an organization would be without an owner", async () => {
    expect(await runProgram("delete-person", email)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("is the only owner of"),
    });
    const people = query(service.persistTo, "SELECT 1 FROM people WHERE email = 'demo@atrium.example'");
    expect(people).toHaveLength(1);
  });
});

describe("while the service runs", () => {
  it("creates organizations that can be used at once, even while the service writes", async () => {
    const owner = new Customer(service, service);
    for (let round = 1; round <= 2; round++) {
      const [organization, ...answers] = await Promise.all([
        createAccount(service, `Round ${round}`),
        ...Array.from({ length: 20 }, () => owner.send("POST", "/rooms", { name: "A room" })),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
      expect(await statusOfRooms(organization)).toBe(200);
    }
    const [row] = query<{ rooms: number }>(service.persistTo, "SELECT count(*) AS rooms FROM rooms");
    expect(row).toEqual({ rooms: 40 });
  });

  it("prints the ID, the key and the header, and stores only the key's hash", async () => {
    const { stdout, exitCode } = await runProgram("create", "Acme");
    expect(exitCode).toBe(0);
    const [, accountId = ""] = /Account ID {2}(\S+)/.exec(stdout) ?? [];
    const [, apiKey = ""] = /API key {5}(\S+)/.exec(stdout) ?? [];
    const [, bearer = ""] = /Authorization: Bearer (\S+)/.exec(stdout) ?? [];
    expect(await statusOfRooms({ accountId, apiKey, bearer })).toBe(200);
    const sql = `SELECT * FROM api_keys WHERE account_id = '${accountId}'`;
    const rows = query<{ name: string }>(service.persistTo, sql);
    expect(rows).toMatchObject([{ name: "First key" }]);
    expect(JSON.stringify(rows)).not.toContain(apiKey);
  });

  it("prints one line of JSON with --json", async () => {
    const { stdout } = await runProgram("create", "Acme", "--json");
    expect(stdout).toMatch(/^\{"accountId":"[0-9a-f-]{36}","apiKey":"atrium_sk_\w+"\}\n$/);
  });
});

it("shows the limits of an organization with their use, sets them, and returns to the default", async () => {
  const customer = await newCustomer();
  const { accountId } = customer.organization;
  const create = async () => (await customer.send("POST", "/rooms", { name: "A room" })).status;
  expect(await create()).toBe(201);
  const changes = ["rooms=1", "invitations=5", "file_bytes=1000000000000", "requests_per_second=500"];
  const shown: Partial<Record<QuotaName, unknown>> = {
    rooms: "rooms 1 of 1",
    members: "members 1 of the default",
    invitations: "invitations 0 of 5",
    api_keys: "api_keys 1 of the default",
    file_bytes: "file_bytes 0 of 1000000000000",
    requests_per_second: expect.stringMatching(/^requests_per_second \d+ of 500$/),
  };
  const { text } = await run("limits", accountId, ...changes);
  expect(text?.split("\n").map((line) => line.trim().replace(/ +/g, " "))).toEqual(
    QUOTAS.map((quota) => shown[quota] ?? `${quota} 0 of the default`),
  );
  expect(await create()).toBe(403);
  const { result } = await run("limits", accountId, "rooms=default");
  expect(result).toContainEqual({ quota: "rooms", used: 1, limit: null });
  expect(await create()).toBe(201);
});

it.each(["rooms=1 OR 1", "rooms", "rooms=-1", "rooms=1.5", "windows=1"])("refuses the limit %s", (change) => {
  expect(() => parseLimits([change])).toThrow(`${change}: write NAME=VALUE`);
});

it("moves no organization to its own database, or to no database", async () => {
  const { accountId } = (await newCustomer()).organization;
  const { text } = await run("move", accountId, "--to", "DB");
  expect(text).toBe("The organization is in DB.");
  const refusal = new UsageError("DB_2 is no database of the service: it has DB.");
  await expect(run("move", accountId, "--to", "DB_2")).rejects.toThrow(refusal);
});

it("ends the tokens of one organization's users", async () => {
  const users = await Promise.all(
    [await newCustomer(), await newCustomer()].map(async (customer) => {
      const { id: roomId } = await customer.createRoom();
      const { token } = await customer.createUser(roomId);
      return { customer, roomId, token };
    }),
  );
  const statuses = () =>
    Promise.all(
      users.map(async ({ customer, roomId, token }) => {
        const headers = { Authorization: `Bearer ${token}` };
        return (await fetch(`${customer.base}/users?roomId=${roomId}`, { headers })).status;
      }),
    );
  expect(await statuses()).toEqual([200, 200]);
  const [{ roomId = "", customer } = {}] = users;
  query(service.persistTo, `UPDATE rooms SET active_participants = 1 WHERE id = '${roomId}'`);
  const { text } = await run("end-tokens", customer?.organization.accountId ?? "");
  expect(text).toBe(
    "Ended the tokens of all users. The sockets of the room with users online close within about a minute.",
  );
  expect(await statuses()).toEqual([401, 200]);
});

it("makes a link by which a person who signs in with the address chooses a password", async () => {
  const post = (to: string, body: object) =>
    fetch(`${service.url}/dashboard/api${to}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: service.url },
      body: JSON.stringify(body),
    });
  const { result } = await run("password-link", "Demo@atrium.example");
  const { path: link } = result as { path: string };
  const password = "a new password";
  const changed = await post(link.replace("/dashboard", ""), { password });
  const signedIn = await post("/sign-in", { email: "demo@atrium.example", password });
  expect([changed.status, signedIn.status]).toEqual([200, 200]);
});

it("turns off the second factor of a person who lost it", async () => {
  query(
    service.persistTo,
    `INSERT INTO second_factors SELECT id, 'key', 'sealed', 0, 0 FROM people WHERE email = 'demo@atrium.example'`,
  );
  query(service.persistTo, "INSERT INTO recovery_codes SELECT person_id, 'hash' FROM second_factors");
  const { text } = await run("second-factor-off", "Demo@atrium.example");
  expect(text).toBe("Turned off the second factor of Demo@atrium.example.");
  const left = "SELECT person_id FROM second_factors UNION SELECT person_id FROM recovery_codes";
  expect(query(service.persistTo, left)).toEqual([]);
  await expect(run("second-factor-off", "demo@atrium.example")).rejects.toThrow(
    "demo@atrium.example has no second factor.",
  );
});

it.each([
  ["limits", "No organization has the ID no' OR '1; the dashboard shows it under Settings."],
  ["end-tokens", "No organization has the ID no' OR '1; the dashboard shows it under Settings."],
  ["password-link", "No person has the address no' OR '1; "],
  ["second-factor-off", "No person has the address no' OR '1; "],
])("refuses to do %s for a subject that does not exist", async (command, message) => {
  await expect(run(command, "no' OR '1")).rejects.toThrow(message);
});

it("cancels no restore that is not under way", async () => {
  const cancelling = run("restore", service.accountId, "--cancel", "--url", service.url);
  await expect(cancelling).rejects.toThrow("No restore of this organization is under way.");
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
    const refusal = new UsageError("NAME must have 1 to 255 characters, none of them NUL.");
    await expect(run("create", "")).rejects.toThrow(refusal);
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
