/** The only way to a room's object: turns a room's id into calls of its stub. */
import { archivedObject } from "../../platform/archive/archived-object.ts";
import { AppError } from "../../platform/errors.ts";
import { clientOf } from "../../platform/network.ts";
import { TtlCache } from "../../platform/ttl-cache.ts";
import type { RoomGateway } from "../port/room-gateway.ts";
import type { RoomRpc } from "../port/room-rpc.ts";
import {
  ACCOUNT_HEADER,
  ADDRESS_HEADER,
  DOCUMENT_HEADER,
  DOWNLOAD_HEADER,
  ROOM_HEADER,
  TRACE_HEADER,
} from "../port/upgrade-headers.ts";
import type { Response } from "../protocol/protocol.ts";
import { collectParts, collectVersion } from "./collect-parts.ts";

/** Clients that a room has refused within the last second: until then they cost neither its object nor D1 anything. */
const refused = new TtlCache<number>({ ttlMs: 1_000, maxEntries: 10_000 });

export function roomGateway(env: { readonly ROOMS: DurableObjectNamespace<RoomRpc> }): RoomGateway {
  const stub = (roomId: string) => env.ROOMS.getByName(roomId);
  const requireConnectable = (roomId: string, request: Request): void => {
    const seconds = refused.get(refusalKey(roomId, request), Date.now());
    if (seconds !== undefined) throw tooManyConnections(seconds);
  };
  return {
    read: async (roomId, accountId, userIds) => stub(roomId).read(accountId, [...userIds]),
    readUser: async (roomId, accountId, userId) => stub(roomId).readUser(accountId, userId),
    readPersonalData: async (roomId, accountId, userId, part, after) =>
      stub(roomId).readPersonalData(accountId, userId, part, after),
    reconcile: async (roomId, accountId) => stub(roomId).reconcile(accountId),
    apply: async (roomId, accountId, command) => stub(roomId).apply(accountId, command),
    request: async (roomId, accountId, request, cause, trace) => {
      const from = [cause && { ...cause }, trace] as const;
      const response = await stub(roomId).request(accountId, JSON.stringify(request), ...from);
      return dataOf(JSON.parse(response) as Response);
    },
    visit: async (roomId, accountId, userId, visit, trace) => {
      const response = await stub(roomId).visit(accountId, userId, JSON.stringify(visit), trace);
      return (dataOf(JSON.parse(response) as Response) as { readonly endsAt: number }).endsAt;
    },
    writeStores: async (roomId, accountId, userId, batches) =>
      JSON.parse(await stub(roomId).writeStores(accountId, userId, JSON.stringify(batches))) as Response[],
    listDocuments: async (roomId, accountId) => stub(roomId).listDocuments(accountId),
    describeDocument: async (roomId, accountId, name) => stub(roomId).describeDocument(accountId, name),
    readDocument: (roomId, accountId, name) =>
      collectParts((part) => stub(roomId).readDocument(accountId, name, part)),
    writeDocument: async (roomId, accountId, name, update, write) => {
      const written = await stub(roomId).writeDocument(accountId, name, update, { ...write });
      if (typeof written !== "boolean") throw new AppError("Rooms", written.code, written.message);
      return written;
    },
    readTrail: async (roomId, accountId, name, page) => stub(roomId).readTrail(accountId, name, page),
    listVersions: async (roomId, accountId, name, page) => stub(roomId).listVersions(accountId, name, page),
    readVersion: (roomId, accountId, name, seq, documentId = null) =>
      collectVersion((from) => stub(roomId).readVersion(accountId, name, seq, from), documentId),
    readWritten: async (roomId, accountId, name, range) => {
      const written = await stub(roomId).readWritten(accountId, name, { ...range });
      if ("code" in written) throw new AppError("Rooms", written.code, written.message);
      return written;
    },
    changeVersion: async (roomId, accountId, name, change) => {
      const changed = await stub(roomId).changeVersion(accountId, name, change);
      if ("code" in changed) throw new AppError("Rooms", changed.code, changed.message);
      return changed;
    },
    deleteDocument: async (roomId, accountId, name) => stub(roomId).deleteDocument(accountId, name),
    archived: (roomId) => archivedObject("Rooms", () => stub(roomId)),
    requireConnectable,
    // A new request: of what the client sent, only the upgrade reaches the object.
    connect: async (roomId, accountId, request, entry, trace) => {
      requireConnectable(roomId, request); // of many at once, the first may have been refused meanwhile
      const response = await stub(roomId).fetch("https://room/socket", {
        headers: {
          Upgrade: request.headers.get("Upgrade") ?? "",
          [ACCOUNT_HEADER]: accountId,
          [ROOM_HEADER]: roomId,
          [ADDRESS_HEADER]: clientOf(request),
          ...(trace && { [TRACE_HEADER]: JSON.stringify(trace) }),
          ...(entry && { [DOCUMENT_HEADER]: encodeURIComponent(JSON.stringify(entry)) }),
        },
      });
      if (response.status !== 429) return response;
      const seconds = Number(response.headers.get("Retry-After"));
      refused.set(refusalKey(roomId, request), seconds, Date.now());
      throw tooManyConnections(seconds);
    },
    download: async (roomId, downloadId) => {
      const headers = { [DOWNLOAD_HEADER]: encodeURIComponent(downloadId) };
      const response = await stub(roomId).fetch("https://room/download", { headers });
      return response.ok ? response.body : null;
    },
  };
}

const refusalKey = (roomId: string, request: Request): string => `${roomId} ${clientOf(request)}`;

const tooManyConnections = (seconds: number): AppError =>
  new AppError(
    "Rooms",
    "RATE_LIMITED",
    "Too many connections to this room from this address; wait and retry",
    seconds,
  );

function dataOf(response: Response): object {
  if (response.success) return response.data;
  const { module, code, message } = response.error;
  throw new AppError(module, code, message);
}
