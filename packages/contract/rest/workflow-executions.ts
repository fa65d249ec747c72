/** Runs of workflows on the wire: the request for one, and its execution. The SDK infers its types from it. */

import * as z from "zod";
import { isAboutUser } from "../resources/event-names.ts";
import { EventName, WorkflowEventName } from "../resources/events.ts";
import { text } from "../text.ts";
import { Timestamp } from "../time.ts";
import { TRACED } from "./deliveries.ts";
import { EXAMPLE, RoomId } from "./workflows.ts";

export const WorkflowRun = z
  .strictObject({
    event: EventName.meta({ description: "Any event, not only those the workflow runs on." }),
    data: z.strictObject({
      roomId: RoomId.meta({ description: "Any room of the organization, not only the workflow's." }),
      userId: text(1, 255).optional().meta({
        description: "A user of the room; required for events of users, comments and files.",
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

export const LogLine = z.object({
  level: z.enum(["debug", "log", "info", "warn", "error"]),
  message: z.string().meta({ example: "Ada is in Weekly planning" }),
  timestamp: Timestamp,
});
export type LogLine = z.infer<typeof LogLine>;

export const WorkflowExecution = z
  .object({
    id: z.uuid(),
    workflow_id: z.uuid(),
    event: WorkflowEventName,
    status: z.enum(["success", "failed"]),
    result: z
      .string()
      .meta({ description: "The returned value as JSON; for a failed run, the error message." }),
    version: z.int().optional().meta({
      description: "The version of the workflow that ran. Absent for a run that could not start.",
      minimum: 1,
    }),
    attempts: z.int().meta({
      description:
        "The number of runs; more than 1 only with `retries`. 0 for a run that did not start, or was interrupted.",
      minimum: 0,
    }),
    duration_ms: z.number().meta({ minimum: 0 }),
    created_at: Timestamp.meta({
      description: "When the event was enqueued; the run follows those of earlier events of the room.",
    }),
    ...TRACED,
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
      version: 1,
      attempts: 1,
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

export const CurrentExecution = WorkflowExecution.extend({
  status: z.enum(["pending", "running", "success", "failed"]).meta({
    description:
      "`pending` while a run is yet to start, a retry included, and `running` while one is in progress. `success` and `failed` are final.",
  }),
  result: z.string().nullable().meta({
    description:
      "The returned value as JSON; for a failed run, the error message, also while a retry waits or runs. Null before a run has ended.",
  }),
}).meta({
  id: "CurrentExecution",
  example: {
    id: "0d7f2b1c-4a3e-4f59-8c6d-1e2b3a4c5d6f",
    workflow_id: EXAMPLE.id,
    event: "workflow.triggered",
    status: "running",
    result: null,
    attempts: 0,
    duration_ms: 0,
    created_at: "2026-01-31T09:31:00.000Z",
    logs: [],
  },
});
export type CurrentExecution = z.infer<typeof CurrentExecution>;
