/** Shared by the tests of files: a room to upload to, handwritten forms, and access to D1 and R2. */
import { env } from "cloudflare:workers";
import type { StorageFile } from "@atrium/contract/resources/file.ts";
import { expect } from "vitest";
import { openBlobs } from "../../src/features/files/storage/blobs.ts";
import { openDatabase } from "../../src/platform/d1/d1.ts";
import { type Account, type Answer, type Api, account } from "../support/api.ts";

export const MEBIBYTE = 1024 * 1024;
export const BOUNDARY = "a-boundary";

export interface OwnerWithRoom extends Account {
  readonly roomId: string;
  readonly userId: string;
  readonly token: string;
  /** The fields of a form of this user. */
  readonly fields: { readonly roomId: string; readonly userId: string };
}

export async function ownerWithRoom(): Promise<OwnerWithRoom> {
  const owner = await account();
  const room = await owner.api.createRoom();
  const user = await owner.api.createUser(room.id);
  const fields = { roomId: room.id, userId: user.id };
  return { ...owner, ...fields, fields, token: user.token };
}

export async function store(api: Api, fields: Record<string, string>, file: File): Promise<string> {
  const answer = await api.upload(fields, file);
  if (answer.status !== 201) throw new Error(answer.description);
  return answer.data.file.key;
}

export const textFile = (name = "a.txt", content = "Hello", type = "text/plain") =>
  new File([content], name, { type });

/** A part of a form as text: its headers, then its content. */
export const part = (disposition: string, content = "", headers = ""): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n${headers}\r\n${content}\r\n`;

export const field = (name: string, value: string): string => part(`name="${name}"`, value);

export const END = `--${BOUNDARY}--\r\n`;

export const sendForm = (
  api: Api,
  body: BodyInit,
  contentType = `multipart/form-data; boundary=${BOUNDARY}`,
): Promise<Answer<{ file: { key: string; url: string } }>> =>
  api.send("POST", "/upload", { body, headers: { "Content-Type": contentType } });

export async function onlyFile({ api, roomId }: Pick<OwnerWithRoom, "api" | "roomId">): Promise<StorageFile> {
  const { data } = await api.get<{ files: StorageFile[] }>(`/files?roomId=${roomId}`);
  const [file, ...others] = data.files;
  if (file === undefined || others.length > 0) throw new Error(`There are ${data.files.length} files`);
  return file;
}

/** The states of all of an organization's files in D1, visible or not. */
export async function statesOf(accountId: string): Promise<string[]> {
  const query = "SELECT state FROM files WHERE account_id = ? ORDER BY key";
  const { results } = await env.DB.prepare(query).bind(accountId).all<{ state: string }>();
  return results.map(({ state }) => state);
}

/** The names of all of an organization's objects in R2. */
export async function objectsOf(accountId: string): Promise<string[]> {
  const { objects } = await env.FILES.list({ prefix: `${accountId}/` });
  return objects.map(({ key }) => key);
}

/** Adds so many rows of files without bytes. `name` is the SQL of a file's name, by its number `n` from 0. */
export const insertFiles = (
  { id, roomId, userId }: Pick<OwnerWithRoom, "id" | "roomId" | "userId">,
  count: number,
  { name = "'a'", size = 1, state = "stored" } = {},
) =>
  env.DB.prepare(
    `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers LIMIT ?4)
     INSERT INTO files (key, account_id, room_id, filename, mime_type, media_type, size, uploaded_by, uploaded_at, state)
     SELECT printf('%s/%022d/uploads/%s', ?2, n, ${name}), ?1, ?2, ${name}, 'a/b', 'a/b', ?5, ?3, n, ?6 FROM numbers`,
  )
    .bind(id, roomId, userId, count, size, state)
    .run();

/** Fails if any row or object of an upload remains. */
export async function expectNothingLeft({ id }: Pick<OwnerWithRoom, "id">): Promise<void> {
  expect([await statesOf(id), await objectsOf(id)]).toEqual([[], []]);
}

export const db = openDatabase(env.DB);
export const blobs = openBlobs(env.FILES);
