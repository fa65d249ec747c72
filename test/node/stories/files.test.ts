/** Uploads across the network: of the largest size, aborted halfway, and interrupted by a crash. */
import { readdir } from "node:fs/promises";
import { type ClientRequest, request } from "node:http";
import path from "node:path";
import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import { afterAll, beforeEach, expect, it } from "vitest";
import { eventually } from "../cli/processes.ts";
import { KillableService } from "../endurance/killable-service.ts";
import { Customer } from "./client.ts";

const MEBIBYTE = 1024 * 1024;
const CHUNK = Buffer.alloc(MEBIBYTE, "Atrium");
const BOUNDARY = "a-boundary";
const TWO_HOURS_MS = 2 * 60 * 60 * 1000;

const service = await KillableService.prepare();
const customer = new Customer(service, service.organization);
/** A user of the test's own room. */
let ada: UserWithToken;
/** The files on disk when the test begins. */
let onDisk: number;

beforeEach(async () => {
  ada = await customer.createUser((await customer.createRoom()).id, "Ada");
  onDisk = await blobsOnDisk();
});
afterAll(() => service.dispose());

/** Kills the service as a power failure would, and starts it again with the same data. */
async function crash(): Promise<void> {
  await service.kill();
  await service.start();
}

interface Upload {
  readonly call: ClientRequest;
  readonly answer: Promise<{ status: number; body: string }>;
  /** Sends this many bytes of the file, as fast as the service accepts them. */
  send(bytes: number): Promise<void>;
  end(): void;
}

/** Begins an upload without a Content-Length. */
function beginUpload(roomId = ada.room_id): Upload {
  const call = request(`${customer.base}/upload`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${service.organization.bearer}`,
      "Content-Type": `multipart/form-data; boundary=${BOUNDARY}`,
    },
  });
  const answer = new Promise<{ status: number; body: string }>((resolve, reject) => {
    call.once("error", reject).once("response", (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      response.once("end", () => resolve({ status: response.statusCode ?? 0, body }));
      response.once("error", reject);
    });
  });
  const head = (disposition: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`;
  const fields = `${head('name="roomId"')}${roomId}\r\n${head('name="userId"')}${ada.id}\r\n`;
  call.write(fields + head('name="file"; filename="large.bin"'));
  const write = (chunk: Buffer) =>
    new Promise<void>((resolve) => {
      call.write(chunk, () => resolve());
    });
  return {
    call,
    answer,
    async send(bytes) {
      for (let left = bytes; left > 0; left -= CHUNK.byteLength) await write(CHUNK.subarray(0, left));
    },
    end: () => call.end(`\r\n--${BOUNDARY}--\r\n`),
  };
}

const filesOf = async (roomId = ada.room_id) =>
  (await customer.send<{ files: { url: string; size: number }[] }>("GET", `/files?roomId=${roomId}`)).data
    .files;

const rows = () =>
  service.query<{ key: string; state: string; upload_id: string | null }>(
    `SELECT * FROM files WHERE room_id = '${ada.room_id}'`,
  );

/** The number of objects that the local R2 has on disk. */
const blobsOnDisk = async (): Promise<number> =>
  (await readdir(path.join(service.state, "v3/r2/atrium-files/blobs")).catch(() => [])).length;

const nothingIsLeft = () =>
  eventually("nothing is left", async () => (await rows()).length === 0 && (await blobsOnDisk()) === onDisk);

it("a file of 100 MiB can be stored and read; one byte more is refused and leaves nothing behind", async () => {
  const full = beginUpload();
  await full.send(100 * MEBIBYTE);
  full.end();
  expect(await full.answer).toMatchObject({ status: 201 });
  const [file] = await filesOf();
  expect(file?.size).toBe(100 * MEBIBYTE);
  let size = 0;
  const { body } = await fetch(file?.url ?? "");
  for await (const chunk of body ?? []) size += chunk.byteLength;
  expect(size).toBe(100 * MEBIBYTE);

  const stored = await blobsOnDisk();
  const over = beginUpload();
  await over.send(100 * MEBIBYTE + 1);
  over.end();
  const { status, body: refusal } = await over.answer;
  expect([status, JSON.parse(refusal).error.code]).toEqual([400, "BAD_REQUEST"]);
  expect((await filesOf()).length).toBe(1);
  await eventually("its bytes are gone", async () => (await blobsOnDisk()) === stored);
  expect((await rows()).map(({ state }) => state)).toEqual(["stored"]);
});

it("an upload that is refused early gets its response before the rest of the file was sent", async () => {
  const refused = beginUpload(crypto.randomUUID());
  await refused.send(40 * MEBIBYTE);
  refused.end();
  const { status, body } = await refused.answer;
  expect([status, JSON.parse(body).error.message]).toEqual([404, "Room not found"]);
});

it("an aborted upload leaves neither a row nor bytes", async () => {
  const upload = beginUpload();
  const broken = upload.answer.catch((error: unknown) => error);
  await upload.send(20 * MEBIBYTE);
  await eventually("parts of it are stored", async () => (await blobsOnDisk()) >= onDisk + 2);
  expect(await filesOf()).toEqual([]);
  upload.call.destroy();
  expect(await broken).toBeInstanceOf(Error);
  await nothingIsLeft();
});

it("a crash during an upload leaves nothing visible, and garbage collection removes the rest", async () => {
  const upload = beginUpload();
  upload.answer.catch(() => {}); // the crash breaks it
  await upload.send(20 * MEBIBYTE);
  await eventually("its upload ID is stored", async () => (await rows())[0]?.upload_id != null);
  await crash();
  const [row] = await rows();
  expect(row?.state).toBe("uploading");
  expect(await filesOf()).toEqual([]);
  expect((await fetch(`${customer.base}/storage/${row?.key}`)).status).toBe(404);
  await service.query(`UPDATE files SET uploaded_at = uploaded_at - ${TWO_HOURS_MS}`);
  await service.runScheduled();
  expect(await rows()).toEqual([]);
});

it("a crash while a room is deleted leaves the room and its files either complete or gone", async () => {
  const form = () => {
    const data = new FormData();
    data.append("roomId", ada.room_id);
    data.append("userId", ada.id);
    data.append("file", new File(["Hello"], "hello.txt", { type: "text/plain" }));
    return {
      method: "POST",
      headers: { Authorization: `Bearer ${service.organization.bearer}` },
      body: data,
    };
  };
  for (let count = 0; count < 60; count += 1) await fetch(`${customer.base}/upload`, form());
  const paths = (await filesOf()).map(({ url }) => new URL(url).pathname);
  expect(paths.length).toBe(50); // a page
  const deletion = customer.send("DELETE", `/rooms/${ada.room_id}`).catch(() => null);
  await crash();
  await deletion;
  await service.runScheduled();
  const { status } = await customer.send("GET", `/files?roomId=${ada.room_id}`);
  const left = await rows();
  const statuses = new Set<number>();
  for (const each of paths) statuses.add((await fetch(service.url + each)).status);
  expect([200, 404]).toContain(status);
  expect([left.length, [...statuses]]).toEqual(status === 200 ? [60, [200]] : [0, [404]]);
});
