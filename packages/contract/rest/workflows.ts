/** Workflows on the wire. The SDK infers its types from it. */

import * as z from "zod";
import { EventName } from "../resources/events.ts";
import { Schedule, ScheduleInput } from "../resources/schedule.ts";
import { isPlainText, Name, text, updateOf } from "../text.ts";
import { Timestamp } from "../time.ts";

/** One for each of the growing pauses. */
const MAX_RETRIES = 5;

const MAX_CODE_BYTES = 256 * 1024;

export const EXAMPLE = {
  id: "9b3e7c54-1f0a-4d68-b2c5-6e8f7a9d0c12",
  organization_id: "8c1a1f0e-5b7d-4c52-9d5e-2a7f3c9b6e40",
  name: "Greet participants",
  code: "export default async (event, { room }) => {\n  const { name } = await room.get();\n  console.log(event.user.name, 'is in', name);\n  return { greeted: event.data.userId };\n};\n",
  events: ["participant.joined"],
  room_id: "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11",
  enabled: true,
  version: 1,
  retries: 0,
  schedule: null,
  next_run_at: null,
  http_trigger: false,
  trigger_secret_created_at: null,
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:30:00.000Z",
} as const;

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
      description:
        "A disabled workflow does not run. The service disables a workflow with too many waiting events. It also disables one that it had to kill in two runs in a row, because the program passed a limit and did not yield.",
    }),
    version: z.int().meta({
      description: "Counts the codes that were saved, from 1. The last 50 are kept as versions.",
      minimum: 1,
    }),
    retries: z.int().meta({
      description:
        "How often a failed run is made again. With 0, the default, the workflow runs at most once per event.",
      minimum: 0,
      maximum: MAX_RETRIES,
    }),
    schedule: Schedule.nullable().meta({
      description: "When it also runs by the clock, on `workflow.scheduled`; null when it does not.",
    }),
    next_run_at: Timestamp.nullable().meta({
      description: "When its schedule runs it next; null without a schedule, and while it is disabled.",
    }),
    http_trigger: z.boolean().meta({
      description: "Whether requests may start it, on `workflow.triggered`.",
    }),
    trigger_secret_created_at: Timestamp.nullable().meta({
      description: "When the secret of its HTTP trigger was created; null while it has none.",
    }),
    disabled_reason: z.string().optional().meta({
      description: "Why the service has disabled the workflow, and what to do. Absent in every other case.",
      example:
        "Too many events were waiting, for this workflow or for all of the organization, or the oldest for too long. Make the workflow faster, then enable it again: it runs on what waits.",
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
const Events = z.array(EventName).meta({
  description: "At least one, unless the workflow has a schedule or an HTTP trigger; duplicates count once.",
});
const HttpTrigger = z.boolean().meta({
  description: "Whether requests may start the workflow. False by default.",
});
const SCHEDULE = "When the workflow also runs by the clock; null, the default, when it does not.";

/** The error of a workflow without any start. */
export const NOTHING_STARTS_IT =
  "must have at least one event, unless the workflow has a schedule or an HTTP trigger";
export const RoomId = text(1, 255);
const Retries = z
  .int()
  .min(0)
  .max(MAX_RETRIES)
  .meta({
    description: `How often a failed run is made again, with growing pauses: 0 to ${MAX_RETRIES}. With 0, the default, the workflow runs at most once per event. With more, also a run that a restart of the service interrupts is made again.`,
  });

export const WorkflowCreation = z
  .strictObject({
    name: Name,
    code: Code,
    events: Events,
    roomId: RoomId.nullable().optional().meta({ description: "Omit it, or use null, for all rooms." }),
    retries: Retries.optional(),
    schedule: ScheduleInput.nullable().optional().meta({ description: SCHEDULE }),
    httpTrigger: HttpTrigger.optional(),
  })
  .refine(({ events, schedule, httpTrigger }) => events.length > 0 || schedule || httpTrigger, {
    path: ["events"],
    message: NOTHING_STARTS_IT,
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

export const WorkflowUpdate = updateOf({
  name: Name.optional(),
  code: Code.optional(),
  events: Events.optional(),
  roomId: RoomId.nullable().optional().meta({ description: "null means all rooms." }),
  retries: Retries.optional(),
  schedule: ScheduleInput.nullable().optional().meta({ description: SCHEDULE }),
  httpTrigger: HttpTrigger.optional(),
  enabled: z.boolean().optional(),
}).meta({ id: "WorkflowUpdate", example: { enabled: false } });
export type WorkflowUpdate = z.infer<typeof WorkflowUpdate>;
export type WorkflowUpdateInput = z.input<typeof WorkflowUpdate>;
