/** The endpoints of workflows. */
import * as z from "zod";
import { endpoint } from "../http/endpoint.ts";
import { pageShape, paging, searching, toPage } from "../http/paginate.ts";
import { createWorkflow, deleteWorkflow, runWorkflow, updateWorkflow } from "./commands.ts";
import { getWorkflow, listExecutions, listWorkflows } from "./queries.ts";
import { Workflow, WorkflowCreation, WorkflowExecution, WorkflowRun, WorkflowUpdate } from "./schema.ts";

const common = { module: "Workflows", access: "organization" } as const;

const CODE_DETAILS =
  "Code that cannot be compiled, or exports no function, is a `VALIDATION_ERROR` with line and column.";

export const workflowEndpoints = [
  endpoint({
    ...common,
    method: "GET",
    path: "/workflows",
    operation: "listWorkflows",
    summary: "List workflows",
    details: "Newest first. A page with much code ends early: go on at `offset` plus the number shown.",
    errors: [],
    query: z.object({ ...paging, ...searching("the workflow's `name`") }),
    status: 200,
    done: "Workflows retrieved",
    data: z.object({ workflows: z.array(Workflow), ...pageShape }),
    handle: (ctx, { query }) => listWorkflows(ctx, toPage(query)),
  }),
  endpoint({
    ...common,
    method: "POST",
    path: "/workflows",
    operation: "createWorkflow",
    summary: "Create a workflow",
    details: `It is enabled, and runs on what happens from now on. ${CODE_DETAILS}`,
    errors: ["NOT_FOUND"],
    body: WorkflowCreation,
    status: 201,
    done: "Workflow created",
    data: z.object({ workflow: Workflow }),
    handle: (ctx, { body }) => createWorkflow(ctx, body),
  }),
  endpoint({
    ...common,
    method: "GET",
    path: "/workflows/:workflowId",
    operation: "getWorkflow",
    summary: "Get a workflow",
    errors: ["NOT_FOUND"],
    status: 200,
    done: "Workflow retrieved",
    data: z.object({ workflow: Workflow }),
    handle: (ctx, { params }) => getWorkflow(ctx, params.workflowId),
  }),
  endpoint({
    ...common,
    method: "PATCH",
    path: "/workflows/:workflowId",
    operation: "updateWorkflow",
    summary: "Change a workflow, disable it or enable it again",
    details: `Counts for every run that begins after the answer, those on events that wait already included; runs in progress end as they began. While it is disabled nothing is run, and what happens meanwhile is not caught up on. ${CODE_DETAILS}`,
    errors: ["NOT_FOUND"],
    body: WorkflowUpdate,
    status: 200,
    done: "Workflow updated",
    data: z.object({ workflow: Workflow }),
    handle: (ctx, { params, body }) => updateWorkflow(ctx, params.workflowId, body),
  }),
  endpoint({
    ...common,
    method: "DELETE",
    path: "/workflows/:workflowId",
    operation: "deleteWorkflow",
    summary: "Delete a workflow with its executions",
    details: "Runs in progress finish; no new ones begin.",
    errors: ["NOT_FOUND"],
    status: 200,
    done: "Workflow deleted",
    data: z.object({}),
    handle: (ctx, { params }) => deleteWorkflow(ctx, params.workflowId),
  }),
  endpoint({
    ...common,
    method: "GET",
    path: "/workflows/:workflowId/executions",
    operation: "listWorkflowExecutions",
    summary: "List the runs of a workflow",
    details:
      "Those that are over, newest first, as far as they are remembered: the latest 1,000, for 7 days. A run happens at most once for an event, after the runs on earlier events of the same room. A page of large results ends early: go on at `offset` plus the number shown.",
    errors: ["NOT_FOUND"],
    query: z.object(paging),
    status: 200,
    done: "Executions retrieved",
    data: z.object({ executions: z.array(WorkflowExecution), ...pageShape }),
    handle: (ctx, { params, query }) => listExecutions(ctx, params.workflowId, toPage(query)),
  }),
  endpoint({
    ...common,
    method: "POST",
    path: "/workflows/:workflowId/run",
    operation: "runWorkflow",
    summary: "Run a workflow now",
    details:
      "With an event made of the room and the user as they are, though nothing has happened; what the run does is real. It waits for no other run, and the answer waits for its end. A `session.closed` without `userId` tells of the newest 100 users of the room. A disabled workflow answers `CONFLICT`.",
    errors: ["NOT_FOUND"],
    body: WorkflowRun,
    status: 200,
    done: "Workflow run",
    data: z.object({ execution: WorkflowExecution }),
    handle: (ctx, { params, body }) => runWorkflow(ctx, params.workflowId, body),
  }),
];
