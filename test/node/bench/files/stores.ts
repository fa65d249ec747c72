/** The compared file stores: Atrium, and a Worker that only passes bodies to R2 and back. */
import { Agent } from "node:http";
import { PART_BYTES } from "../../../../src/features/files/blob-writer.ts";
import { Organization } from "../organization.ts";
import type { Served } from "../serve.ts";
import { type Received, type Transfer, transfer } from "./transfer.ts";

export const MEBIBYTE = 1024 * 1024;

/** A service that stores and returns files. */
export interface FileStore {
  readonly name: string;
  put(bytes: number): Transfer;
  /** The key of a stored file. */
  keyOf(answer: Received): string;
  get(key: string): Transfer;
  /** Deletes files, so that a long bench does not fill the disk. */
  remove(keys: readonly string[], stop: AbortSignal): Promise<void>;
}

const BOUNDARY = "a-boundary";

/** Not all zeros, which some file systems store as nothing. */
const content = (bytes: number): Buffer => Buffer.alloc(bytes, "What Ada has drawn. ");

/** A request for each key, one after the other. */
async function each(
  keys: readonly string[],
  one: (key: string) => Transfer,
  stop: AbortSignal,
): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  for (const key of keys) await transfer(one(key), agent, stop);
  agent.destroy();
}

export const bareStore = ({ origin }: Served): FileStore => ({
  name: "bare R2",
  put: (bytes) => ({
    method: "PUT",
    url: `${origin("floors")}/r2`,
    headers: { "Content-Type": "application/octet-stream" },
    body: content(bytes),
    status: 201,
  }),
  keyOf: ({ text }) => text,
  get: (key) => ({ method: "GET", url: `${origin("floors")}/r2/${key}`, headers: {}, status: 200 }),
  remove: (keys, stop) =>
    each(
      keys,
      (key) => ({ method: "DELETE", url: `${origin("floors")}/r2/${key}`, headers: {}, status: 200 }),
      stop,
    ),
});

/** The same with multipart objects, as in Atrium: a form does not give the length of a file in advance. */
export const barePartedStore = (served: Served): FileStore => {
  const bare = bareStore(served);
  const url = `${served.origin("floors")}/r2/parts/${PART_BYTES}`;
  return { ...bare, name: "bare R2, in parts", put: (bytes) => ({ ...bare.put(bytes), url }) };
};

export async function atriumStore({ db, origin }: Served): Promise<FileStore> {
  const organization = await Organization.create(db, origin("atrium"));
  const roomId = await organization.createRoom("The room");
  const userId = await organization.createUserId("Ada", roomId);
  const base = `${origin("atrium")}/v1/accounts/${organization.accountId}`;
  const head = (disposition: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`;
  const formOf = (file: Buffer): Buffer =>
    Buffer.concat([
      Buffer.from(`${head('name="roomId"')}${roomId}\r\n${head('name="userId"')}${userId}\r\n`),
      Buffer.from(head('name="file"; filename="drawing.bin"')),
      file,
      Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
    ]);
  return {
    name: "Atrium",
    put: (bytes) => ({
      method: "POST",
      url: `${base}/upload`,
      headers: { ...organization.headers, "Content-Type": `multipart/form-data; boundary=${BOUNDARY}` },
      body: formOf(content(bytes)),
      status: 201,
    }),
    keyOf: ({ text }) => (JSON.parse(text) as { data: { file: { key: string } } }).data.file.key,
    get: (key) => ({ method: "GET", url: `${base}/storage/${key}`, headers: {}, status: 200 }),
    remove: (keys, stop) =>
      each(
        keys,
        (key) => ({
          method: "DELETE",
          url: `${base}/upload`,
          headers: { ...organization.headers, "Content-Type": "application/json" },
          body: Buffer.from(JSON.stringify({ key })),
          status: 200,
        }),
        stop,
      ),
  };
}
