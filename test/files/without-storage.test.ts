/** A deployment without R2: files are refused with the remedy, and everything else works. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { runHere } from "../../src/scheduled.ts";
import { remove } from "../backup/furnished.ts";
import { backUp, Operator, restore } from "../backup/operator.ts";
import { type Answer, formOf, ORIGIN } from "../support/api.ts";
import { type OwnerWithRoom, objectsOf, ownerWithRoom, statesOf, store, textFile } from "./upload-form.ts";

const { FILES: _bucket, ...bindings } = env;

const REFUSAL = {
  module: "Files",
  code: "FORBIDDEN",
  message:
    'This deployment has no storage for files: its operator enables R2, removes FILES = "off" from atrium.toml, and runs `npm run deploy`',
};

async function send<Data>(
  { api }: Pick<OwnerWithRoom, "api">,
  method: string,
  path: string,
  body?: object | FormData,
): Promise<Pick<Answer<Data>, "status" | "error" | "data">> {
  const execution = createExecutionContext();
  const json = { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const init = body === undefined ? {} : body instanceof FormData ? { body } : json;
  const response = await app.fetch(api.request(method, path, init), bindings, execution);
  const answer = await response.json<Answer<Data>>();
  await waitOnExecutionContext(execution);
  return { ...answer, status: response.status };
}

it("uploads and downloads are refused with what the operator does, and leave no row", async () => {
  const owner = await ownerWithRoom();
  const large = new File([new Uint8Array(9 * 1024 * 1024)], "large.bin");
  for (const file of [textFile(), large, new File([], "empty.txt")])
    expect(await send(owner, "POST", "/upload", formOf(owner.fields, file))).toMatchObject({
      ...{ status: 403, error: REFUSAL },
    });
  expect(await statesOf(owner.id)).toEqual([]);
  const key = await store(owner.api, owner.fields, textFile());
  expect(await send(owner, "GET", `/storage/${key}`)).toMatchObject({ status: 403, error: REFUSAL });
  expect(await send(owner, "GET", `/files?roomId=${owner.roomId}`)).toMatchObject({ status: 200 });
});

it("files, users and rooms are deleted without it, and their bytes once the bucket is back", async () => {
  const owner = await ownerWithRoom();
  const other = await owner.api.createUser(owner.roomId);
  const keys = [
    await store(owner.api, owner.fields, textFile("one.txt")),
    await store(owner.api, { ...owner.fields, userId: other.id }, textFile("two.txt")),
    await store(owner.api, owner.fields, textFile("three.txt")),
  ];
  const erasure = `/users/${other.id}/personal-data?roomId=${owner.roomId}`;
  expect(await send(owner, "DELETE", "/upload", { key: keys[0] })).toMatchObject({ status: 200 });
  expect(await send(owner, "DELETE", erasure)).toMatchObject({ status: 200 });
  expect(await send(owner, "DELETE", `/rooms/${owner.roomId}`)).toMatchObject({ status: 200 });
  const collect = (deployment: typeof bindings) => runHere(deployment, ["files in DB"], Date.now());
  await collect(bindings);
  expect(await statesOf(owner.id)).toEqual(["deleting", "deleting", "deleting"]);
  expect(await objectsOf(owner.id)).toHaveLength(3);
  await collect(env);
  expect([await statesOf(owner.id), await objectsOf(owner.id)]).toEqual([[], []]);
});

it("a backup of files that cannot be read fails, and a restore of files waits for the bucket", async () => {
  const owner = await ownerWithRoom();
  const key = await store(owner.api, owner.fields, textFile());
  const without = async (purpose: "backup" | "restore", operation: string, json: object) => {
    const operator = await Operator.with(owner.id, purpose);
    operator.bindings = bindings;
    return operator.refusal(operation, { json });
  };
  const position = { backupId: crypto.randomUUID(), key, offset: 0 };
  expect(await without("backup", "file", position)).toBe("403 FORBIDDEN");
  const archive = await backUp(owner.id);
  await remove(owner, "DB");
  expect(await restore(archive, ["missing", 0])).toBe(false);
  expect(await without("restore", "missing", { keys: [key] })).toBe("403 FORBIDDEN");
  expect(await restore(archive)).toBe(true);
  expect((await owner.api.raw("GET", `/storage/${key}`)).status).toBe(200);
});

it("the health says so and stays 200", async () => {
  const response = await app.fetch(new Request(`${ORIGIN}/health`), bindings, createExecutionContext());
  expect([response.status, await response.json()]).toEqual([
    200,
    { status: "ok", warnings: [REFUSAL.message] },
  ]);
});
