/** Sentences about fields that need no more than their name, for the OpenAPI document. Others stand at their schemas. */
/** Descriptions by the path of a field in its schema, or by its name in any schema. */
const FIELDS: Readonly<Record<string, string>> = {
  id: "The ID, which the service gave.",
  account_id: "The organization's ID.",
  organization_id: "The organization's ID.",
  room_id: "The room's ID.",
  user_id: "The user's ID.",
  webhook_id: "The webhook's ID.",
  workflow_id: "The workflow's ID.",
  request_id: "The request ID of the response; `null` where no request caused it.",
  roomId: "The room's ID.",
  userId: "The user's ID.",
  sessionId: "The session's ID.",
  commentId: "The comment's ID.",
  suggestionId: "The ID of the suggestion.",
  threadId: "The ID of the thread, which is that of its first comment.",
  webhookId: "The webhook's ID.",
  workflowId: "The workflow's ID.",
  requestId: "The request ID, as in `X-Request-Id`.",
  name: "The name that people see.",
  email: "The address that the person signs in with.",
  text: "The text.",
  code: "The source code, in JavaScript or TypeScript.",
  key: "The key.",
  role: "What the holder may do: a `viewer` reads, an `editor` also writes.",
  created_at: "When it was created.",
  updated_at: "When it was last changed.",
  expires_at: "When it expires.",
  joined_at: "When the first tab joined, or the member accepted the invitation.",
  saved_at: "When the version was saved.",
  uploadedAt: "When the file was uploaded.",
  at: "When it happened.",
  timestamp: "When it happened.",
  event: "The name of the event.",
  data: "The event's data.",
  enabled: "False to receive no events until it is enabled again.",
  resolved: "True once the thread is settled.",
  status: "The outcome; `null` until there is one.",
  duration_ms: "Milliseconds from its start to its end.",
  attempts: "The number of attempts so far.",
  range: "The time that the numbers are of, up to now.",
  failed_runs: "Runs that failed.",
  latency_ms: "How long attempts took, in milliseconds.",
  points: "The same numbers by time, the oldest first.",

  "RoomUpdate.state": "`closed` refuses joins and uploads, and keeps the data; `active` reopens the room.",
  "DocumentRollback.userId": "The user whose changes are taken back.",
  "DocumentVersionInput.name": "The name of the version, which is kept until it is deleted.",
  "DocumentVersionUpdate.name":
    "The new name; `null` for none: the version is then dropped with the edit history.",
  "DocumentVersion.named_by": "Who gave the version its name; `null` without one.",
  "SharedType.name": "The name by which a client gets the type from the document.",
  "DocumentSegment.text": "The characters, or the JSON of an item.",
  "StoreBatches.requests": "The batches, which are written in order.",
  "StoreBatches.requests.operations.type":
    "Sets a value, merges the fields of an object, or deletes the entry.",
  "StoreBatches.requests.operations.store": "The store's name.",
  "StoreBatches.requests.operations.key": "The entry's key.",
  "StoreBatches.requests.operations.ifVersion":
    "Writes only if the entry still has this version; 0 if there is none yet.",
  "Broadcast.event": "The name that clients listen to.",
  "WorkflowRun.data": "The data of the event that the run receives.",
  "Failure.type": "Always `response`.",
  "Failure.success": "Always `false`.",
  "Failure.description": "What was not done, in one sentence.",
  "Failure.data": "Always empty.",
  "Failure.error": "The error.",
  "Error.code": "The kind of the error, for programs.",
  "AuditEntry.actor": "Who changed it.",
  "AuditEntry.resource": "The changed thing.",
  "AuditEntry.resource.type": "The kind of the changed thing.",
  "ApiRequest.method": "The HTTP method.",
  "ApiRequest.status": "The HTTP status.",
  "ApiRequest.credential": "The credential of the request.",
  "ApiRequest.room_id": "The room that the path names; `null` for another path.",
  "Quota.used": "How much is used now.",
  "Quota.limit": "How much may be used.",
  "User.status": "`online` while the user has a session in the room.",
  "ListedUser.status": "`online` while the user has a session in the room.",
  "UserWithToken.status": "`online` while the user has a session in the room.",
  "IssuedToken.token": "The token, shown here and never again.",
  "CommentEvent.data.userId": "The author's ID. Absent for a comment of an erased user.",
  "FileEvent.data.key": "The file's key.",
  "FileEvent.data.userId": "The ID of the user who uploaded it. Absent for an erased user.",
  "FoundFile.roomName": "The room's name.",
  "Delivery.last_attempt_at": "When the latest attempt began; `null` before the first.",
  "Delivery.log.attempted_at": "When the attempt began.",
  "Replay.from": "The start of the time whose events are sent again.",
  "Replay.to": "The end of that time.",
  "Replay.finished_at": "When the last delivery was put into the queue; `null` while it runs.",
  "WebhookBackloggedEvent.data.oldestWaitingSince": "When the oldest waiting event occurred.",
  "WebhookBackloggedEvent.webhook": "The webhook with the backlog.",
  "WorkflowDisabledEvent.workflow": "The disabled workflow.",
  "WorkflowExecution.logs.level": "The method of `console` that wrote the line.",
  "WorkflowExecution.logs.message": "The text of the line.",
  "CurrentExecution.logs.level": "The method of `console` that wrote the line.",
  "CurrentExecution.logs.message": "The text of the line.",
};

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly items?: Described;
}

/** Gives each field without a sentence the one above. */
export function describeFields(schemas: unknown): void {
  for (const [name, schema] of Object.entries((schemas ?? {}) as Readonly<Record<string, Described>>))
    describe(schema, name);
}

function describe({ properties = {}, items }: Described, place: string): void {
  if (items !== undefined) describe(items, place);
  for (const [name, field] of Object.entries(properties)) {
    const sentence = FIELDS[`${place}.${name}`] ?? FIELDS[name];
    if (field.description === undefined && sentence !== undefined)
      Object.assign(field, { description: sentence });
    describe(field, `${place}.${name}`);
  }
}
