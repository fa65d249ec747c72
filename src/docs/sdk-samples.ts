/**
 * How each operation of the API is called through `atrium/server`. A test compiles each sample against the SDK, runs it,
 * and compares the request that it makes with the operation.
 */
import { code, none, type SdkSample } from "./sdk-sample.ts";

/** By the operation's ID. */
export const SDK_SAMPLES: Readonly<Record<string, SdkSample>> = {
  listApiKeys: code("const { api_keys } = await atrium.organization.listKeys({ limit: 20 });"),
  createApiKey: code('const { api_key, key } = await atrium.organization.createKey("Production");'),
  revokeApiKey: code("await atrium.organization.revokeKey(keyId);"),
  getOrganization: code("const organization = await atrium.organization.get();"),
  updateOrganization: code('const organization = await atrium.organization.rename("Acme");'),
  deleteOrganization: code('await atrium.organization.delete("Acme"); // its name'),
  listMembers: code("const { members } = await atrium.organization.listMembers();"),
  updateMember: code('const member = await atrium.organization.setRole(personId, "owner");'),
  createPasswordLink: code(
    "const { url, expires_at } = await atrium.organization.createPasswordLink(personId);",
  ),
  removeMember: code("await atrium.organization.removeMember(personId);"),
  listInvitations: code("const { invitations } = await atrium.organization.listInvitations();"),
  createInvitation: code(
    'const { invitation, url } = await atrium.organization.invite("member", "ada@example.com");',
  ),
  deleteInvitation: code("await atrium.organization.withdrawInvitation(invitationId);"),
  listAuditEntries: code(
    'const { entries, cursor } = await atrium.organization.listAuditEntries({ operation: "deleteRoom" });',
  ),
  listRequests: code("const { requests, cursor } = await atrium.requests.list({ failed: true });"),
  getRequest: code("const request = await atrium.requests.get(requestId);"),
  getOverview: code("const overview = await atrium.organization.overview();"),
  getUsage: code(`const { events, points } = await atrium.organization.usage("7d");`),
  listQuotas: code("const { quotas } = await atrium.organization.listQuotas();"),

  listRooms: code('const { rooms, cursor } = await atrium.rooms.list({ search: "planning", online: true });'),
  createRoom: code('const room = await atrium.rooms.create({ name: "Weekly planning" });'),
  getRoom: code("const { room, users } = await atrium.rooms.get(roomId);"),
  getRoomByCustomId: code("const { room, users } = await atrium.rooms.getByCustomId(customId);"),
  updateRoom: code('const room = await atrium.rooms.update(roomId, { name: "Retrospective" });'),
  deleteRoom: code("await atrium.rooms.delete(roomId);"),
  reconcileRoom: code("const { room, previous_active_participants } = await atrium.rooms.reconcile(roomId);"),

  listUsers: code('const { users, cursor } = await atrium.users.list(roomId, { search: "ada" });'),
  createUser: code('const { id, token } = await atrium.users.create({ roomId, name: "Ada" });'),
  getUser: code("const { user, sessions } = await atrium.users.get(roomId, userId);"),
  getUserByCustomId: code("const { user, sessions } = await atrium.users.getByCustomId(roomId, customId);"),
  updateUser: code('const user = await atrium.users.update(roomId, userId, { name: "Ada L." });'),
  deleteUser: code("await atrium.users.delete(roomId, userId);"),
  getPersonalData: code(`const records = [];
for await (const record of atrium.users.eachRecord(roomId, userId)) records.push(record);`),
  erasePersonalData: code("await atrium.users.erase(roomId, userId);"),
  createToken: code("const { token } = await atrium.users.createToken(roomId, userId, { ttl: 900 });"),
  endTokens: code("await atrium.users.endTokens(roomId, userId);"),
  endAllTokens: code("await atrium.organization.endAllTokens();"),

  listFiles: code('const { files, cursor } = await atrium.files.list(roomId, { mimeType: "image/" });'),
  uploadFile: code(
    'const { key, url } = await atrium.files.upload(roomId, { userId, file, filename: "plan.png" });',
  ),
  findFiles: code('const { files, cursor } = await atrium.files.find({ search: "plan" });'),
  deleteFile: code("await atrium.files.delete(fileKey);"),
  readFile: none("The file's `url` is all that reading takes: in an `<img>`, a link or a `fetch`."),

  openSocket: none("`AtriumClient` of `atrium/client` opens it in `join()`, and speaks its protocol."),
  openDocumentSocket: none("Editors open it with the client that they have."),
  listStores: code("const stores = await atrium.stores.list(roomId);"),
  getStore: code(
    'const { entries, seq, next } = await atrium.stores.getPage(roomId, "tasks", { limit: 100 });',
  ),
  downloadStore: none("`AtriumClient` of `atrium/client` downloads a large store by itself in `sync()`."),
  getEntry: code('const { value, version } = await atrium.stores.get(roomId, "tasks", "milk");'),
  setEntry: code(
    'const { version } = await atrium.stores.set(roomId, "tasks", "milk", { title: "Buy milk" });',
  ),
  updateEntry: code(
    'const { version } = await atrium.stores.update(roomId, "tasks", "milk", { done: true });',
  ),
  deleteEntry: code('await atrium.stores.delete(roomId, "tasks", "milk");'),
  writeStores: code(`const [response] = await atrium.stores.batch(roomId, [
  {
    requestId: crypto.randomUUID(),
    operations: [
      { type: "STORE_SET", store: "tasks", key: "milk", value: { title: "Buy milk" } },
      { type: "STORE_DELETE", store: "tasks", key: "bread" },
    ],
  },
]);`),
  listComments: code("const { comments } = await atrium.comments.list(roomId, { resolved: false });"),
  createComment: code(
    'const comment = await atrium.comments.create(roomId, { userId, text: "Shall we begin?" });',
  ),
  updateComment: code("const comment = await atrium.comments.update(roomId, commentId, { resolved: true });"),
  deleteComment: code("await atrium.comments.delete(roomId, commentId);"),
  broadcast: code('const delivered = await atrium.broadcast(roomId, "announcement", { text: "Lunch!" });'),
  getPresence: code("const presence = await atrium.getPresence(roomId);"),
  addParticipant: code(
    'const expiresAt = await atrium.addParticipant(roomId, userId, { presence: { status: "reading" }, ttl: 60 });',
  ),
  removeParticipant: code("await atrium.removeParticipant(roomId, userId);"),

  listDocuments: code("const documents = await atrium.documents.list(roomId);"),
  getDocumentSummary: code(
    'const { bytes, versions, updated_at } = await atrium.documents.summary(roomId, "notes");',
  ),
  getDocument: code('const update = await atrium.documents.get(roomId, "notes"); // for Y.applyUpdate'),
  getDocumentContent: code(
    'const content = await atrium.documents.content(roomId, "notes", { root: "default", type: "text" });',
  ),
  updateDocument: code(
    'const applied = await atrium.documents.apply(roomId, "notes", update); // of Y.encodeStateAsUpdate',
  ),
  deleteDocument: code('await atrium.documents.delete(roomId, "notes");'),
  getDocumentTrail: code(
    'const { trail, next } = await atrium.documents.trail(roomId, "notes", { limit: 20 });',
  ),
  listDocumentVersions: code(
    'const { versions, next } = await atrium.documents.versions(roomId, "notes", { limit: 20 });',
  ),
  createDocumentVersion: code(
    'const { version } = await atrium.documents.createVersion(roomId, "notes", "Draft");',
  ),
  updateDocumentVersion: code('await atrium.documents.renameVersion(roomId, "notes", version, "Final");'),
  deleteDocumentVersion: code('await atrium.documents.deleteVersion(roomId, "notes", version);'),
  restoreDocumentVersion: code(
    'const applied = await atrium.documents.restoreVersion(roomId, "notes", version);',
  ),
  rollBackDocument: code(
    'const applied = await atrium.documents.rollBack(roomId, "notes", { userId, from: version });',
  ),
  compareDocumentVersions: code(
    'const changes = await atrium.documents.compare(roomId, "notes", { from: version, type: "text" });',
  ),

  listWebhooks: code("const { webhooks } = await atrium.webhooks.list();"),
  createWebhook: code(`const { id, secret } = await atrium.webhooks.create({
  url: "https://example.com/atrium",
  events: ["participant.joined", "participant.left"],
});`),
  getWebhook: code("const webhook = await atrium.webhooks.get(webhookId);"),
  updateWebhook: code("const webhook = await atrium.webhooks.update(webhookId, { enabled: false });"),
  deleteWebhook: code("await atrium.webhooks.delete(webhookId);"),
  rotateWebhookSecret: code("const { secret } = await atrium.webhooks.rotateSecret(webhookId);"),
  testWebhook: code("const delivery = await atrium.webhooks.test(webhookId);"),
  listWebhookDeliveries: code(
    'const { deliveries, cursor } = await atrium.webhooks.listDeliveries(webhookId, { status: "failed" });',
  ),
  redeliverWebhookDelivery: code("const delivery = await atrium.webhooks.redeliver(webhookId, deliveryId);"),
  redeliverWebhookDeliveries: code(
    "const { redelivered, missing } = await atrium.webhooks.redeliverAll(webhookId, [deliveryId]);",
  ),
  replayWebhookEvents: code(
    'const replay = await atrium.webhooks.replay(webhookId, { from: "2026-01-31T09:00:00Z" });',
  ),
  getWebhookReplay: code("const replay = await atrium.webhooks.getReplay(webhookId);"),
  getWebhookStats: code('const stats = await atrium.webhooks.stats(webhookId, "24h");'),

  listWorkflows: code("const { workflows } = await atrium.workflows.list();"),
  createWorkflow: code(`const workflow = await atrium.workflows.create({
  name: "Greeter",
  events: ["participant.joined"],
  code: \`export default (event) => console.log(event.data.user.name, "is here");\`,
});`),
  getWorkflow: code("const workflow = await atrium.workflows.get(workflowId);"),
  updateWorkflow: code("const workflow = await atrium.workflows.update(workflowId, { enabled: false });"),
  deleteWorkflow: code("await atrium.workflows.delete(workflowId);"),
  listWorkflowVersions: code("const { versions } = await atrium.workflows.listVersions(workflowId);"),
  getWorkflowVersion: code("const { code } = await atrium.workflows.getVersion(workflowId, version);"),
  restoreWorkflowVersion: code(
    "const workflow = await atrium.workflows.restoreVersion(workflowId, version);",
  ),
  listWorkflowExecutions: code(
    "const { executions, cursor } = await atrium.workflows.listExecutions(workflowId, { limit: 20 });",
  ),
  getWorkflowExecution: code(
    "const { status } = await atrium.workflows.getExecution(workflowId, executionId);",
  ),
  runWorkflow: code(
    'const execution = await atrium.workflows.run(workflowId, "participant.joined", { roomId, userId });',
  ),
  getWorkflowStats: code('const stats = await atrium.workflows.stats(workflowId, "24h");'),
  triggerWorkflow: code("const { id } = await atrium.workflows.trigger(workflowId, { order: 8731 });"),
  rotateWorkflowTriggerSecret: code(
    "const { trigger_secret } = await atrium.workflows.rotateTriggerSecret(workflowId);",
  ),
  deleteWorkflowTriggerSecret: code(
    "const workflow = await atrium.workflows.deleteTriggerSecret(workflowId);",
  ),
  listWorkflowSecrets: code("const secrets = await atrium.workflows.listSecrets(workflowId);"),
  setWorkflowSecret: code('await atrium.workflows.setSecret(workflowId, "TOKEN", "a value");'),
  deleteWorkflowSecret: code('await atrium.workflows.deleteSecret(workflowId, "TOKEN");'),

  listEvents: code('const { events, cursor } = await atrium.events.list({ from: "2026-01-31" });'),
  listRoomEvents: code("const { events, cursor } = await atrium.events.list({ roomId });"),
};
