/** Preparations and output of `npm start`, on the first start and on later ones. */
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Checkout, copyCheckout } from "./checkout.ts";
import { query } from "./database.ts";
import { run, runCli } from "./processes.ts";
import { type Service, startService } from "./service.ts";

let checkout: Checkout;
let persistTo: string;
let running: Service | undefined;

beforeAll(async () => {
  checkout = await copyCheckout();
  persistTo = checkout.at(".wrangler/state");
});
afterAll(async () => {
  await running?.kill();
  await checkout?.remove();
});

/** Starts the service in place of the one before. */
async function start(): Promise<Service> {
  await running?.kill();
  running = await startService({ root: checkout.root, persistTo });
  return running;
}

const modeOf = async (...parts: string[]): Promise<number> =>
  (await stat(checkout.at(...parts))).mode & 0o777;

const request = (
  { url, accountId, bearer }: Service,
  where: string,
  init: RequestInit = {},
): Promise<Response> =>
  fetch(`${url}/v1/accounts/${accountId}${where}`, {
    ...init,
    headers: { Authorization: `Bearer ${bearer}`, "Content-Type": "application/json" },
  });

const listRooms = (service: Service): Promise<Response> => request(service, "/rooms");

async function organizationsBySignIn({ url, signIn }: Service): Promise<unknown> {
  const headers = { Origin: url, "Content-Type": "application/json" };
  const body = JSON.stringify(signIn);
  const response = await fetch(`${url}/dashboard/api/sign-in`, { method: "POST", headers, body });
  const { data } = (await response.json()) as { data: { organizations?: unknown } };
  return data.organizations;
}

/** The first start: later ones must keep its demo organization. */
let first: Service;
/** Path of an entry in the first room's store. */
let entryPath: string;

describe("the first start", () => {
  it("prepares everything and prints a curl command that creates a room", async () => {
    first = await start();
    expect(first.stdout()).toContain("Applying migrations: 0000_");
    expect(first.stdout()).toContain(
      `Atrium is ready at ${first.url}, its documentation at ${first.url}/docs`,
    );
    expect(first.stdout()).toContain(
      `The demo is at ${first.url}/demo: a board of your own, with a link for others\n`,
    );
    expect(first.stdout()).toContain(`Sign in to the dashboard at ${first.url}/dashboard\n`);
    expect(first.stderr()).toBe("");

    const [pasted = ""] = /^curl (?:.*\\\n)*.*$/m.exec(first.stdout()) ?? [];
    const { stdout } = await run("sh", ["-c", pasted]);
    const created = JSON.parse(stdout);
    expect(created).toMatchObject({ success: true, data: { room: { name: "My first room" } } });
    entryPath = `/rooms/${created.data.room.id}/stores/tasks/first`;
    await request(first, entryPath, { method: "PUT", body: JSON.stringify({ value: "Kept" }) });
    expect((await fetch(`${first.url}/docs`)).status).toBe(200);
    expect((await fetch(`${first.url}/demo`)).status).toBe(200);
  });

  it("lets only the user read the files that hold secrets", async () => {
    expect(await readFile(checkout.at(".dev.vars"), "utf8")).toMatch(
      /^JWT_SECRET=[\w-]{43}\nVAPID_PRIVATE_KEY=[\w-]{43}\nWEBHOOK_DEV_TARGETS=127\.0\.0\.1,localhost\n$/,
    );
    expect(await modeOf(".dev.vars")).toBe(0o600);
    expect(await modeOf(".wrangler/state/demo.json")).toBe(0o600);
  });

  it("lets only the user read what the service stores", async () => {
    const entries = await readdir(persistTo, { recursive: true, withFileTypes: true });
    const modes = await Promise.all(
      entries.map(async (entry) => {
        const { mode } = await stat(path.join(entry.parentPath, entry.name));
        return `${entry.isDirectory() ? "folder" : "file"} ${(mode & 0o777).toString(8)}`;
      }),
    );
    expect(await modeOf(".wrangler/state")).toBe(0o700);
    expect(new Set(modes)).toEqual(new Set(["folder 700", "file 600"]));
  });
});

describe("a later start", () => {
  let again: Service;
  let secrets: string;

  it("keeps the organization, its rooms and the secret, and prepares nothing", async () => {
    secrets = await readFile(checkout.at(".dev.vars"), "utf8");
    again = await start();
    const { accountId, apiKey, signIn } = first;
    expect(again).toMatchObject({ accountId, apiKey, signIn });
    expect(again.stdout()).not.toMatch(/migrations|JWT_SECRET|VAPID_PRIVATE_KEY|WEBHOOK_DEV_TARGETS/);
    expect(await (await listRooms(again)).text()).toContain("My first room");
    expect(await readFile(checkout.at(".dev.vars"), "utf8")).toBe(secrets);
  });

  it("lets the demo's owner sign in with the printed password, and shows where a mail for another one is", async () => {
    const { url, signIn } = again;
    expect(await organizationsBySignIn(again)).toMatchObject([
      { id: first.accountId, name: "Development", role: "owner" },
      { name: "Demo boards", role: "owner" },
    ]);
    const headers = { Origin: url, "Content-Type": "application/json" };
    const body = JSON.stringify({ email: signIn.email });
    const asked = await fetch(`${url}/dashboard/api/password-links`, { method: "POST", headers, body });
    expect(asked.status).toBe(200);
    const mail = () => /A mail to (.*), “Choose a new password.*, is in (.*\.txt)\n/.exec(again.stdout());
    await expect.poll(() => mail()?.[1]).toBe(signIn.email);
    const file = mail()?.[2] ?? "";
    expect(path.dirname(file)).toBe(path.join(persistTo, "mail"));
    expect(await readFile(file, "utf8")).toContain(`\n${url}/dashboard/password-links/`);
    expect([(await stat(file)).mode & 0o777, await modeOf(".wrangler/state/mail")]).toEqual([0o600, 0o700]);
  });

  it("is backed up while it runs, with the secrets", async () => {
    const copy = checkout.at("backups/today");
    const backup = await runCli("backup.ts", [copy], checkout.root);
    expect(backup).toMatchObject({ exitCode: 0, stderr: "" });
    expect(backup.stdout).toMatch(/^Copied \d+ files to .*today\. It holds secrets/);
    expect(await readFile(path.join(copy, ".dev.vars"), "utf8")).toBe(secrets);
    expect(await modeOf("backups/today")).toBe(0o700);
    expect(await runCli("backup.ts", [copy], checkout.root)).toMatchObject({ exitCode: 1, stdout: "" });
    await request(again, entryPath, { method: "DELETE" });
    persistTo = copy;
  });

  it("on a backup has what was stored when it was made, and applies a new migration", async () => {
    await writeFile(checkout.at("migrations/9999_later.sql"), "CREATE TABLE later (id text);\n");
    again = await start();
    expect(again.stdout()).toContain("Applying migrations: 9999_later.sql …\n");
    expect(again).toMatchObject({ accountId: first.accountId, apiKey: first.apiKey });
    expect(await (await listRooms(again)).text()).toContain("My first room");
    expect(await (await request(again, entryPath)).json()).toMatchObject({ data: { value: "Kept" } });
  });

  it("gives the boards a new organization when theirs was deleted, and replaces revoked keys", async () => {
    const readDemo = async () => JSON.parse(await readFile(path.join(persistTo, "demo.json"), "utf8"));
    const before = await readDemo();
    await again.kill();
    query(persistTo, `DELETE FROM accounts WHERE id = '${before.boardsAccountId}'`);
    query(persistTo, `DELETE FROM api_keys WHERE account_id = '${first.accountId}'`);
    again = await start();
    expect(again).toMatchObject({ accountId: first.accountId, signIn: first.signIn });
    expect(await (await listRooms(again)).text()).toContain("My first room");
    const { boardsAccountId } = await readDemo();
    expect(boardsAccountId).not.toBe(before.boardsAccountId);
    expect(await organizationsBySignIn(again)).toMatchObject([
      { id: first.accountId, name: "Development", role: "owner" },
      { id: boardsAccountId, name: "Demo boards", role: "owner" },
    ]);
    expect(again.stdout()).toContain("The demo will be available after the next start\n");
    await again.kill();
    query(persistTo, `DELETE FROM api_keys WHERE account_id = '${boardsAccountId}'`);
    again = await start();
    expect(await readDemo()).toMatchObject({ accountId: first.accountId, boardsAccountId });
    expect(again.stdout()).toContain("The demo is at ");
    expect((await fetch(`${again.url}/demo/visitors`, { method: "POST" })).status).toBe(201);
  });

  it("creates a new organization when the old one was deleted", async () => {
    await again.kill();
    query(persistTo, "DELETE FROM accounts");
    again = await start();
    expect(again.accountId).not.toBe(first.accountId);
    expect(await organizationsBySignIn(again)).toMatchObject([
      { id: again.accountId, role: "owner" },
      { name: "Demo boards" },
    ]);
    expect((await listRooms(again)).status).toBe(200);
    expect(again.stdout()).toContain("The demo will be available after the next start\n");
  });

  it("starts over when the databases were deleted, and adds a missing secret to .dev.vars", async () => {
    await again.kill();
    await rm(path.join(persistTo, "v3/d1"), { recursive: true });
    await writeFile(checkout.at(".dev.vars"), "VAPID_PRIVATE_KEY=\nWEBHOOK_DEV_TARGETS=");
    again = await start();
    expect((await listRooms(again)).status).toBe(200);
    expect(await readFile(checkout.at(".dev.vars"), "utf8")).toMatch(
      /^VAPID_PRIVATE_KEY=\nWEBHOOK_DEV_TARGETS=\nJWT_SECRET=[\w-]{43}\n$/,
    );
  });
});
