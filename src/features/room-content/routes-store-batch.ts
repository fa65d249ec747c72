/** The endpoint that takes batches of writes to stores, for those who cannot wait for a socket. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { ErrorDetail } from "../../http/envelope.ts";
import { MAX_BATCH_OPERATIONS, MAX_BATCHES } from "../../room/protocol/limits.ts";
import { BatchRequestId, StoreBatch } from "../../room/protocol/messages.ts";
import type { RoomContext } from "../rooms/context.ts";
import { writeStores } from "./commands.ts";

const { endpoint } = endpointsFor<RoomContext>();

const OPERATIONS: Record<string, unknown> = {
  type: "array",
  minItems: 1,
  maxItems: MAX_BATCH_OPERATIONS,
  description: "In order. `value` is left out of `STORE_DELETE`.",
  items: {
    type: "object",
    required: ["type", "store", "key"],
    properties: {
      type: { type: "string", enum: ["STORE_SET", "STORE_UPDATE", "STORE_DELETE"] },
      store: { type: "string", minLength: 1, maxLength: 128 },
      key: { type: "string", minLength: 1, maxLength: 255 },
      value: { description: "Any JSON; an object for `STORE_UPDATE`." },
      ifVersion: { type: "integer", minimum: 0 },
    },
  },
};

const Batch = StoreBatch.extend({
  requestId: BatchRequestId.meta({
    description:
      "Identifies the batch to the room: it is carried out once, over this endpoint and the socket.",
  }),
  operations: StoreBatch.shape.operations.meta({ override: OPERATIONS }),
  atomic: StoreBatch.shape.atomic.meta({
    description: "False: each operation succeeds or fails by itself.",
  }),
}).strict();

const Batches = z.strictObject({ requests: z.array(Batch).min(1).max(MAX_BATCHES) }).meta({
  id: "StoreBatches",
  example: {
    requests: [
      {
        requestId: "4fcb1a47-7d3f-4a0c-9d35-0f3ff1b5a6a0",
        operations: [{ type: "STORE_SET", store: "tasks", key: "milk", value: { title: "Buy milk" } }],
        atomic: true,
      },
    ],
  },
});

const Result = z.object({
  version: z.int().optional().meta({ description: "The entry's new version; left out after a deletion." }),
  seq: z.int().optional().meta({ description: "The change that was made; left out if it was refused." }),
  error: ErrorDetail.optional().meta({ description: "Why an operation was refused by itself." }),
});

const BatchResponse = z.object({
  requestId: BatchRequestId,
  success: z.boolean(),
  data: z.object({ results: z.array(Result).optional(), seq: z.int().optional() }),
  error: ErrorDetail.nullable(),
});

export const storeBatchEndpoints = [
  endpoint({
    method: "POST",
    path: "/rooms/:roomId/stores/batch",
    operation: "writeStores",
    module: "Rooms",
    access: "member",
    summary: "Apply batches of writes to a room's stores",
    details: `Takes 1 to ${MAX_BATCHES} batches and answers each by itself, in order: one that is refused does not stop the next.
A batch is remembered under its \`requestId\` for its sender, as \`STORE_BATCH\` over the socket is: sent again, or sent over both, it is carried out once and gets the same response.
The batches of a request write about 3 MiB of keys and values together; further ones are refused with \`RATE_LIMITED\` and can be sent again.
So a page that is being closed can send what is left by a \`keepalive\` request.

A user's JWT writes as that user, in its own room; viewers cannot write, and a closed room rejects users with 403.`,
    errors: ["NOT_FOUND"],
    body: Batches,
    status: 200,
    done: "Batches applied",
    data: z.object({ responses: z.array(BatchResponse) }),
    handle: async (ctx, { params, body }) => {
      const responses = await writeStores(ctx, params.roomId, body.requests);
      return {
        responses: responses.map(({ requestId = "", success, data, error }) => {
          return { requestId, success, data, error };
        }),
      };
    },
  }),
];
