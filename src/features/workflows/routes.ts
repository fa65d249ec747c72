/** The REST endpoints of workflows. */

import { DeliveryStats, StatsQuery } from "@atrium/contract/rest/deliveries.ts";
import { pageShape, paging, scrollShape, searching } from "@atrium/contract/rest/lists.ts";
import {
  CurrentExecution,
  WorkflowExecution,
  WorkflowRun,
} from "@atrium/contract/rest/workflow-executions.ts";
import { WorkflowVersion, WorkflowVersionSummary } from "@atrium/contract/rest/workflow-versions.ts";
import { Workflow, WorkflowCreation, WorkflowUpdate } from "@atrium/contract/rest/workflows.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { scrolling, sorting, toPage } from "../../http/lists.ts";
import { createWorkflow, deleteWorkflow, restoreVersion, runWorkflow, updateWorkflow } from "./commands.ts";
import type { WorkflowContext } from "./context.ts";
import {
  getExecution,
  getVersion,
  getWorkflow,
  getWorkflowStats,
  listExecutions,
  listVersions,
  listWorkflows,
} from "./queries.ts";

const { endpoint } = endpointsFor<WorkflowContext>({ module: "Workflows" });

const { parameter: sort, orderOf } = sorting("Workflows", "created_at", "updated_at", "name");

const CODE_DETAILS =
  "Code that does not compile, or whose default export is not a function, is a `VALIDATION_ERROR` with line and column.";

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/workflows",
    operation: "listWorkflows",
    sdk: "workflows.list(filter?: WorkflowSearch): data",
    mayBeStale: true,
    summary: "List workflows",
    details:
      "Newest first, or in the order of `sort`. A page with much code may end early: continue at `offset` plus the number of workflows returned.",
    query: z.object({ ...paging, ...sort, ...searching("the workflow's `name`") }),
    done: "Workflows retrieved",
    data: z.object({ workflows: z.array(Workflow), ...pageShape }),
    handle: (ctx, { query }) => listWorkflows(ctx, toPage(query, orderOf(query))),
  }),
  endpoint({
    method: "POST",
    path: "/workflows",
    operation: "createWorkflow",
    sdk: "workflows.create(workflow): workflow",
    summary: "Create a workflow",
    details: `The workflow is enabled, and runs on events from now on. ${CODE_DETAILS}`,
    errors: ["NOT_FOUND"],
    body: WorkflowCreation,
    status: 201,
    done: "Workflow created",
    data: z.object({ workflow: Workflow }),
    audit: {
      resource: "workflow",
      created: ({ workflow }) => workflow.id,
      shows: ["name", "roomId", "httpTrigger"],
    },
    handle: (ctx, { body }) => createWorkflow(ctx, body),
  }),
  endpoint({
    method: "GET",
    path: "/workflows/:workflowId",
    operation: "getWorkflow",
    sdk: "workflows.get(workflowId): workflow",
    summary: "Get a workflow",
    details:
      "The response has the current code. `disabled_reason` says why the service has disabled the workflow, if it has.",
    errors: ["NOT_FOUND"],
    done: "Workflow retrieved",
    data: z.object({ workflow: Workflow }),
    handle: (ctx, { params }) => getWorkflow(ctx, params.workflowId),
  }),
  endpoint({
    method: "PATCH",
    path: "/workflows/:workflowId",
    operation: "updateWorkflow",
    sdk: "workflows.update(workflowId, changes): workflow",
    summary: "Update, disable or enable a workflow",
    details: `Applies to every run that starts after the response, also for events that are already pending; runs in progress finish unchanged. A disabled workflow does not run, and does not catch up on the events it missed. ${CODE_DETAILS}`,
    errors: ["NOT_FOUND"],
    body: WorkflowUpdate,
    done: "Workflow updated",
    data: z.object({ workflow: Workflow }),
    audit: {
      resource: "workflow",
      id: ({ params }) => params.workflowId,
      shows: ["name", "roomId", "httpTrigger", "enabled"],
    },
    handle: (ctx, { params, body }) => updateWorkflow(ctx, params.workflowId, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/workflows/:workflowId",
    operation: "deleteWorkflow",
    sdk: "workflows.delete(workflowId)",
    summary: "Delete a workflow and its executions",
    details: "Runs in progress finish; no new ones start.",
    errors: ["NOT_FOUND"],
    done: "Workflow deleted",
    data: z.object({}),
    audit: { resource: "workflow", id: ({ params }) => params.workflowId },
    handle: (ctx, { params }) => deleteWorkflow(ctx, params.workflowId),
  }),
  endpoint({
    method: "GET",
    path: "/workflows/:workflowId/versions",
    operation: "listWorkflowVersions",
    sdk: "workflows.listVersions(workflowId, page?: Page): data",
    summary: "List the saved versions of a workflow's code",
    details: "Newest first, without the code: the last 50 that were saved, and who saved each.",
    errors: ["NOT_FOUND"],
    query: z.object(paging),
    done: "Versions retrieved",
    data: z.object({ versions: z.array(WorkflowVersionSummary), ...pageShape }),
    handle: (ctx, { params, query }) => listVersions(ctx, params.workflowId, toPage(query)),
  }),
  endpoint({
    method: "GET",
    path: "/workflows/:workflowId/versions/:version",
    operation: "getWorkflowVersion",
    sdk: "workflows.getVersion(workflowId, version: number): version",
    summary: "Get a version of a workflow's code",
    details:
      "The response has the code, and who saved it. The last 50 versions are kept; an older one is `NOT_FOUND`.",
    errors: ["NOT_FOUND"],
    done: "Version retrieved",
    data: z.object({ version: WorkflowVersion }),
    handle: (ctx, { params }) => getVersion(ctx, params.workflowId, params.version),
  }),
  endpoint({
    method: "POST",
    path: "/workflows/:workflowId/versions/:version/restore",
    operation: "restoreWorkflowVersion",
    sdk: "workflows.restoreVersion(workflowId, version: number): workflow",
    summary: "Restore a version of a workflow's code",
    details:
      "Saves its code again, as a new version: nothing is lost, and runs that start after the response use it. Name, events and room stay as they are.",
    errors: ["NOT_FOUND"],
    done: "Version restored",
    data: z.object({ workflow: Workflow }),
    audit: {
      resource: "workflow",
      id: ({ params }) => params.workflowId,
      detail: ({ params }) => ({ version: params.version }),
    },
    handle: (ctx, { params }) => restoreVersion(ctx, params.workflowId, params.version),
  }),
  endpoint({
    method: "GET",
    path: "/workflows/:workflowId/executions",
    operation: "listWorkflowExecutions",
    sdk: "workflows.listExecutions(workflowId, page?: Scroll): data",
    summary: "List a workflow's executions",
    details:
      "Finished runs, newest first. They are kept for 7 days, up to 1 GiB of them. Without `retries`, a workflow runs at most once per event. Its first run for an event follows those for earlier events of the same room. A page of large results may end early: continue with its `cursor`.",
    errors: ["NOT_FOUND"],
    query: z.object(scrolling),
    done: "Executions retrieved",
    data: z.object({ executions: z.array(WorkflowExecution), ...scrollShape }),
    handle: (ctx, { params, query }) => listExecutions(ctx, params.workflowId, toPage(query)),
  }),
  endpoint({
    method: "GET",
    path: "/workflows/:workflowId/executions/:executionId",
    operation: "getWorkflowExecution",
    sdk: "workflows.getExecution(workflowId, executionId): execution",
    summary: "Get an execution of a workflow",
    details:
      "As it is now, finished or not: the execution that a request to the HTTP trigger has started is found from its response on. It answers `NOT_FOUND` once it is no longer kept, and for a run that did not start because the workflow was disabled.",
    errors: ["NOT_FOUND"],
    done: "Execution retrieved",
    data: z.object({ execution: CurrentExecution }),
    handle: (ctx, { params }) => getExecution(ctx, params.workflowId, params.executionId),
  }),
  endpoint({
    method: "POST",
    path: "/workflows/:workflowId/run",
    operation: "runWorkflow",
    sdk: "workflows.run(workflowId, event, data): execution",
    summary: "Run a workflow now",
    details:
      "Runs with an event about the room and the user as they are now. The event is made up, but the effects of the run are real. The run does not wait for others, and the response waits until it is finished. A `session.closed` event without `userId` contains the newest 100 users of the room.",
    errors: ["NOT_FOUND"],
    conflict: ["The workflow is disabled.", "Enable it by `PATCH /workflows/{workflowId}` first."],
    body: WorkflowRun,
    done: "Workflow run",
    data: z.object({ execution: WorkflowExecution }),
    handle: (ctx, { params, body }) => runWorkflow(ctx, params.workflowId, body),
  }),
  endpoint({
    method: "GET",
    path: "/workflows/:workflowId/stats",
    operation: "getWorkflowStats",
    sdk: "workflows.stats(workflowId, range?): stats",
    summary: "Get the success rate and latency of a workflow over time",
    details:
      "Counts every run when it ends, and says what waits now. Counts by the minute are kept for a day, by the hour for 30 days.",
    errors: ["NOT_FOUND"],
    query: StatsQuery,
    done: "Workflow stats retrieved",
    data: z.object({ stats: DeliveryStats }),
    handle: (ctx, { params, query }) => getWorkflowStats(ctx, params.workflowId, query.range),
  }),
];
