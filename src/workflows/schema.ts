/** Workflows and executions on the wire, and how they are presented. The SDK infers its types from it. */
import * as z from "zod";
import { EventName } from "../delivery/port/event-name.ts";
import type { DeliveryRecord, LoggedAttempt } from "../delivery/port/subscriber-port.ts";
import { isPlainText, Name, text } from "../platform/text.ts";
import { presentTime, Timestamp } from "../platform/time.ts";
import type { WorkflowRow } from "./table.ts";

/** The maximum size of a workflow's source code, in bytes of UTF-8. */
export const MAX_CODE_BYTES = 256 * 1024;

const EXAMPLE = {
  id: "9b3e7c54-1f0a-4d68-b2c5-6e8f7a9d0c12",
  organization_id: "8c1a1f0e-5b7d-4c52-9d5e-2a7f3c9b6e40",
  name: "Greet participants",
  code: "export default async (event, { room }) => {\n  const { name } = await room.get();\n  console.log(event.user.name, 'is in', name);\n  return { greeted: event.data.userId };\n};\n",
  events: ["participant.joined"],
  room_id: "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11",
  enabled: true,
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:30:00.000Z",
} as const;

const BACKLOGGED =
  "Too many events were waiting, or the oldest for too long. Make the workflow faster, then enable it again: it runs on what waits.";

/** A customer's code that runs on events (spec section 2). */
export const Workflow = z
  .object({
    id: z.uuid(),
    organization_id: z.uuid(),
    name: z.string(),
    code: z.string().meta({ description: "The source code." }),
    events: z.array(EventName).meta({ description: "The events it runs on." }),
    room_id: z
      .string()
      .nullable()
      .meta({ description: "The room whose events it runs on; null for all rooms." }),
    enabled: z.boolean().meta({
      description: "A disabled workflow does not run. One for which too many events wait is disabled.",
    }),
    disabled_reason: z.string().optional().meta({
      description: "Why the service has disabled the workflow, and what to do. Absent in every other case.",
      example: BACKLOGGED,
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Workflow", example: EXAMPLE });
export type Workflow = z.infer<typeof Workflow>;

const Code = z
  .string()
  .refine((code) => isPlainText(code), "must be well-formed Unicode without NUL")
  .refine(
    (code) => code !== "" && new TextEncoder().encode(code).byteLength <= MAX_CODE_BYTES,
    `must have 1 to ${MAX_CODE_BYTES} bytes`,
  )
  .meta({
    description: `One module of JavaScript or TypeScript whose default export is a function, at most ${MAX_CODE_BYTES} bytes. The function receives the event and \`{ store, room, files, event }\`; the JSON value it returns is the result of the run.`,
    minLength: 1,
    maxLength: MAX_CODE_BYTES,
  });
const Events = z.array(EventName).min(1).meta({ description: "At least one; duplicates count once." });
const RoomId = text(1, 255);

/** Body of `POST /workflows`. */
export const WorkflowCreation = z
  .object({
    name: Name,
    code: Code,
    events: Events,
    roomId: RoomId.nullable().optional().meta({ description: "Omit it, or use null, for all rooms." }),
  })
  .meta({
    id: "WorkflowCreation",
    example: {
      name: EXAMPLE.name,
      code: EXAMPLE.code,
      events: [...EXAMPLE.events],
      roomId: EXAMPLE.room_id,
    },
  });
export type WorkflowCreation = z.infer<typeof WorkflowCreation>;
export type WorkflowInput = z.input<typeof WorkflowCreation>;

/** Body of `PATCH /workflows/:workflowId`: at least one field. */
export const WorkflowUpdate = z
  .object({
    name: Name.optional(),
    code: Code.optional(),
    events: Events.optional(),
    roomId: RoomId.nullable().optional().meta({ description: "null means all rooms." }),
    enabled: z.boolean().optional(),
  })
  .refine(
    (update) => Object.keys(update).length > 0,
    "at least one of name, code, events, roomId, enabled is required",
  )
  .meta({ id: "WorkflowUpdate", example: { enabled: false }, minProperties: 1 });
export type WorkflowUpdate = z.infer<typeof WorkflowUpdate>;
export type WorkflowUpdateInput = z.input<typeof WorkflowUpdate>;

/** True for events about one user. */
const isAboutUser = (event: EventName): boolean => !event.startsWith("session.");

/** Body of `POST /workflows/:workflowId/run`. */
export const WorkflowRun = z
  .object({
    event: EventName.meta({ description: "Any event, not only those the workflow runs on." }),
    data: z.object({
      roomId: RoomId.meta({ description: "Any room of the organization, not only the workflow's." }),
      userId: text(1, 255).optional().meta({
        description: "A user of the room; required except for `session.started` and `session.closed`.",
      }),
    }),
  })
  .refine(({ event, data }) => data.userId !== undefined || !isAboutUser(event), {
    path: ["data", "userId"],
    message: "is required for this event",
  })
  .meta({
    id: "WorkflowRun",
    example: {
      event: "participant.joined",
      data: { roomId: EXAMPLE.room_id, userId: "b5f1f7d2-0f5e-4d3c-8a57-6f2f0f3f9c21" },
    },
  });
export type WorkflowRun = z.infer<typeof WorkflowRun>;
export type WorkflowRunInput = z.input<typeof WorkflowRun>;

/** A line that a run wrote to its console. */
export const LogLine = z.object({
  level: z.enum(["debug", "log", "info", "warn", "error"]),
  message: z.string().meta({ example: "Ada is in Weekly planning" }),
  timestamp: Timestamp,
});
export type LogLine = z.infer<typeof LogLine>;

/** A finished run (spec section 2). */
export const WorkflowExecution = z
  .object({
    id: z.uuid(),
    workflow_id: z.uuid(),
    event: EventName,
    status: z.enum(["success", "failed"]),
    result: z
      .string()
      .meta({ description: "The returned value as JSON; for a failed run, the error message." }),
    duration_ms: z.number().meta({ minimum: 0 }),
    created_at: Timestamp.meta({
      description: "When the event was enqueued; the run follows those of earlier events of the room.",
    }),
    logs: z.array(LogLine).meta({ description: "The lines it wrote to its console, oldest first." }),
  })
  .meta({
    id: "WorkflowExecution",
    example: {
      id: "0d7f2b1c-4a3e-4f59-8c6d-1e2b3a4c5d6f",
      workflow_id: EXAMPLE.id,
      event: "participant.joined",
      status: "success",
      result: '{"greeted":"b5f1f7d2-0f5e-4d3c-8a57-6f2f0f3f9c21"}',
      duration_ms: 7,
      created_at: "2026-01-31T09:31:00.000Z",
      logs: [
        {
          level: "log",
          message: "Ada is in Weekly planning",
          timestamp: "2026-01-31T09:31:00.012Z",
        },
      ],
    },
  });
export type WorkflowExecution = z.infer<typeof WorkflowExecution>;

/** Presents a stored workflow. */
export const presentWorkflow = (row: WorkflowRow): Workflow => ({
  id: row.id,
  organization_id: row.accountId,
  name: row.name,
  code: row.code,
  events: z.array(EventName).parse(JSON.parse(row.events)),
  room_id: row.roomId,
  enabled: row.enabled === 1,
  ...(row.disabledReason === null ? {} : { disabled_reason: BACKLOGGED }),
  created_at: presentTime(row.createdAt),
  updated_at: presentTime(row.updatedAt),
});

/** A run, as the log of its delivery keeps it. */
export interface LoggedRun extends LoggedAttempt {
  /** JSON; null when it failed. */
  readonly result: string | null;
  readonly logs: readonly LogLine[];
}

/** Presents a delivery to the workflow that is over. */
export function presentExecution(workflowId: string, delivery: DeliveryRecord): WorkflowExecution {
  const run = parseLog(delivery.log)[0];
  return {
    id: delivery.id,
    workflow_id: workflowId,
    event: EventName.parse(delivery.event),
    status: delivery.status === "success" ? "success" : "failed",
    result: delivery.error ?? run?.result ?? "null",
    duration_ms: run?.duration_ms ?? 0,
    created_at: presentTime(delivery.createdAt),
    logs: [...(run?.logs ?? [])],
  };
}

/** As the workflow's handler logged them. */
const parseLog = (log: string): LoggedRun[] => JSON.parse(log) as LoggedRun[];
