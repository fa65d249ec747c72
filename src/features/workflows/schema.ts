/** Workflows, their HTTP triggers and their secrets on the wire. The SDK infers its types from it. */
import * as z from "zod";
import { byteLength, isPlainText, Name, text, updateOf } from "../../platform/text.ts";
import { presentNullableTime, presentTime, Timestamp } from "../../platform/time.ts";
import { EventName } from "../../wire/events.ts";
import { nextSlot, parseSchedule, ScheduleInput, ShownSchedule } from "./schedule.ts";
import type { SecretSummary } from "./secret-store.ts";
import type { DisabledReason, WorkflowRow } from "./table.ts";

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

export const DISABLED_MESSAGES: Readonly<Record<DisabledReason, string>> = {
  backlogged:
    "Too many events were waiting, for this workflow or for all of the organization, or the oldest for too long. Make the workflow faster, then enable it again: it runs on what waits.",
  killed:
    "Two runs in a row passed a limit and had to be killed. Their executions say which one. Change the code, then enable the workflow again: it runs on what waits.",
};

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
    schedule: ShownSchedule.nullable().meta({
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
      example: DISABLED_MESSAGES.backlogged,
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

export const presentWorkflow = (row: WorkflowRow, now: number): Workflow => ({
  id: row.id,
  organization_id: row.accountId,
  name: row.name,
  code: row.code,
  events: z.array(EventName).parse(JSON.parse(row.events)),
  room_id: row.roomId,
  enabled: row.enabled === 1,
  version: row.version,
  retries: row.retries,
  ...presentSchedule(row, now),
  http_trigger: row.httpTrigger === 1,
  trigger_secret_created_at: presentNullableTime(row.triggerSecretAt),
  ...(row.disabledReason === null ? {} : { disabled_reason: DISABLED_MESSAGES[row.disabledReason] }),
  created_at: presentTime(row.createdAt),
  updated_at: presentTime(row.updatedAt),
});

function presentSchedule(row: WorkflowRow, now: number): Pick<Workflow, "schedule" | "next_run_at"> {
  const schedule = parseSchedule(row.schedule);
  const isRunning = schedule !== null && row.enabled === 1;
  return { schedule, next_run_at: presentNullableTime(isRunning ? nextSlot(schedule, now) : null) };
}

export const MAX_TRIGGER_BYTES = 256 * 1024;

export const TriggerPayload = z.unknown().meta({
  description: `Any JSON of at most ${MAX_TRIGGER_BYTES} bytes. The workflow receives it as \`event.data.payload\`.`,
  example: { order: 8731 },
});

export const StartedExecution = z
  .object({
    id: z.uuid().meta({
      description:
        "The ID of the execution, which can be retrieved from now on. The list has it when it is finished.",
    }),
  })
  .meta({ id: "StartedExecution", example: { id: "0d7f2b1c-4a3e-8f59-8c6d-1e2b3a4c5d6f" } });
export type StartedExecution = z.infer<typeof StartedExecution>;

export const WorkflowWithSecret = Workflow.extend({
  trigger_secret: z.string().meta({
    description: "Signs the requests that start the workflow, as Standard Webhooks defines it. Shown once.",
  }),
}).meta({
  id: "WorkflowWithSecret",
  example: {
    ...EXAMPLE,
    http_trigger: true,
    trigger_secret_created_at: EXAMPLE.created_at,
    trigger_secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDlpCZx3zH0mE=",
  },
});
export type WorkflowWithSecret = z.infer<typeof WorkflowWithSecret>;

const MAX_NAME_LENGTH = 64;
/** Shorter values could be guessed, and would be found by chance in what runs log. */
const MIN_VALUE_BYTES = 8;
const MAX_VALUE_BYTES = 4096;

export const SecretName = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    "must have letters, digits and underscores only, and not begin with a digit",
  )
  .max(MAX_NAME_LENGTH, `must have at most ${MAX_NAME_LENGTH} characters`);

export const SecretValue = z
  .strictObject({
    value: z
      .string()
      .refine((value) => isPlainText(value), "must be well-formed Unicode without NUL")
      .refine(
        (value) => byteLength(value) >= MIN_VALUE_BYTES && byteLength(value) <= MAX_VALUE_BYTES,
        `must have ${MIN_VALUE_BYTES} to ${MAX_VALUE_BYTES} bytes`,
      )
      .meta({
        description: `${MIN_VALUE_BYTES} to ${MAX_VALUE_BYTES} bytes. No response ever contains it.`,
        minLength: 1,
        maxLength: MAX_VALUE_BYTES,
      }),
  })
  .meta({ id: "WorkflowSecretValue", example: { value: "a token of another service" } });

export const WorkflowSecret = z
  .object({
    name: SecretName.meta({ description: "A program reads the value as `env.NAME`." }),
    created_at: Timestamp,
    updated_at: Timestamp.meta({ description: "When the value was last set." }),
  })
  .meta({
    id: "WorkflowSecret",
    example: {
      name: "CHAT_TOKEN",
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z",
    },
  });
export type WorkflowSecret = z.infer<typeof WorkflowSecret>;

export const presentSecret = ({ name, createdAt, updatedAt }: SecretSummary): WorkflowSecret => ({
  name,
  created_at: presentTime(createdAt),
  updated_at: presentTime(updatedAt),
});
