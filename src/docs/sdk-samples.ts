/**
 * The call of `atrium/server` for each operation of the API. A test compiles and runs each sample, and compares its
 * request with the operation.
 */

export const SDK_PRELUDE = `import { AtriumServer } from "atrium/server";

export const atrium = new AtriumServer({ serverUrl, accountId, apiKey });
`;

export const SDK_SAMPLES: Readonly<Record<string, string>> = {
  listApiKeys: "const { api_keys } = await atrium.organization.listKeys({ limit: 20 });",
  createApiKey: 'const { api_key, key } = await atrium.organization.createKey("Production");',
  revokeApiKey: "await atrium.organization.revokeKey(keyId);",
  getOrganization: "const organization = await atrium.organization.get();",
  updateOrganization: 'const organization = await atrium.organization.rename("Acme");',
  deleteOrganization: 'await atrium.organization.delete("Acme"); // its name',
  listMembers: "const { members } = await atrium.organization.listMembers();",
  updateMember: 'const member = await atrium.organization.setRole(personId, "owner");',
  createPasswordLink: "const { url, expires_at } = await atrium.organization.createPasswordLink(personId);",
  removeMember: "await atrium.organization.removeMember(personId);",
  listInvitations: "const { invitations } = await atrium.organization.listInvitations();",
  createInvitation:
    'const { invitation, url } = await atrium.organization.invite("member", "ada@example.com");',
  deleteInvitation: "await atrium.organization.withdrawInvitation(invitationId);",
  listAuditEntries:
    'const { entries, cursor } = await atrium.organization.listAuditEntries({ operation: "deleteRoom" });',
  listRequests: "const { requests, cursor } = await atrium.requests.list({ failed: true });",
  getRequest: "const request = await atrium.requests.get(requestId);",
  getOverview: "const overview = await atrium.organization.overview();",
  getUsage: `const { events, points } = await atrium.organization.usage("7d");`,
  listQuotas: "const { quotas } = await atrium.organization.listQuotas();",

  listRooms: 'const { rooms, cursor } = await atrium.rooms.list({ search: "planning", online: true });',
  createRoom: 'const room = await atrium.rooms.create({ name: "Weekly planning" });',
  getRoom: "const { room, users } = await atrium.rooms.get(roomId);",
  getRoomByCustomId: "const { room, users } = await atrium.rooms.getByCustomId(customId);",
  updateRoom: 'const room = await atrium.rooms.update(roomId, { name: "Retrospective" });',
  deleteRoom: "await atrium.rooms.delete(roomId);",
  reconcileRoom: "const { room, previous_active_participants } = await atrium.rooms.reconcile(roomId);",

  listUsers: 'const { users, cursor } = await atrium.users.list(roomId, { search: "ada" });',
  createUser: 'const { id, token } = await atrium.users.create({ roomId, name: "Ada" });',
  getUser: "const { user, sessions } = await atrium.users.get(roomId, userId);",
  getUserByCustomId: "const { user, sessions } = await atrium.users.getByCustomId(roomId, customId);",
  updateUser: 'const user = await atrium.users.update(roomId, userId, { name: "Ada L." });',
  deleteUser: "await atrium.users.delete(roomId, userId);",
  getPersonalData: `const records = [];
for await (const record of atrium.users.eachRecord(roomId, userId)) records.push(record);`,
  erasePersonalData: "await atrium.users.erase(roomId, userId);",
  createToken: "const { token } = await atrium.users.createToken(roomId, userId, { ttl: 900 });",
  endTokens: "await atrium.users.endTokens(roomId, userId);",
  endAllTokens: "await atrium.organization.endAllTokens();",

  listIdentities: 'const { identities, cursor } = await atrium.identities.list({ search: "ada" });',
  createIdentity: 'const identity = await atrium.identities.create({ name: "Ada", customId: "ada-1" });',
  getIdentity: "const identity = await atrium.identities.get(identityId);",
  getIdentityByCustomId: "const identity = await atrium.identities.getByCustomId(customId);",
  updateIdentity: 'const identity = await atrium.identities.update(identityId, { name: "Ada L." });',
  deleteIdentity: "await atrium.identities.delete(identityId);",
  getIdentityData: `const records = [];
for await (const record of atrium.identities.eachRecord(identityId)) records.push(record);`,
  eraseIdentityData: "await atrium.identities.erase(identityId);",
  listIdentityGroups: "const { groups } = await atrium.identities.listGroups(identityId);",
  listIdentityRooms: "const { rooms, cursor } = await atrium.identities.listRooms(identityId);",
  identify:
    'const { token } = await atrium.identifyUser({ customId: "ada-1", name: "Ada", groups: ["designers"] });',
  createIdentityToken: "const { token } = await atrium.identities.createToken(identityId, { ttl: 900 });",
  endIdentityTokens: "await atrium.identities.endTokens(identityId);",
  listGroups: "const { groups, cursor } = await atrium.groups.list();",
  createGroup: 'const group = await atrium.groups.create({ name: "Designers" });',
  getGroup: "const group = await atrium.groups.get(groupId);",
  getGroupByCustomId: "const group = await atrium.groups.getByCustomId(customId);",
  updateGroup: 'const group = await atrium.groups.update(groupId, { name: "Design" });',
  deleteGroup: "await atrium.groups.delete(groupId);",
  listGroupMembers: "const { members, cursor } = await atrium.groups.listMembers(groupId);",
  addGroupMember: "await atrium.groups.addMember(groupId, identityId);",
  removeGroupMember: "await atrium.groups.removeMember(groupId, identityId);",

  listInboxNotifications:
    "const { notifications, cursor } = await atrium.inbox(identityId).list({ unread: true });",
  countInboxNotifications: "const unread = await atrium.inbox(identityId).count();",
  markInboxNotificationsAsRead:
    "const unread = await atrium.inbox(identityId).markRead(); // or one, by its ID",
  deleteInboxNotification: "await atrium.inbox(identityId).delete(notificationId);",
  deleteInboxNotifications: "await atrium.inbox(identityId).delete();",
  listPushSubscriptions: "const { subscriptions } = await atrium.inbox(identityId).listPushSubscriptions();",
  deletePushSubscription: "await atrium.inbox(identityId).deletePushSubscription(endpoint);",
  triggerInboxNotification: `const delivered = await atrium.triggerInboxNotification({
  identityId,
  kind: "$invoice",
  subjectId: "invoice-7",
  data: { amount: 12 },
});`,
  getNotificationDefaults: "const { email } = await atrium.getNotificationDefaults();",
  updateNotificationDefaults: `await atrium.updateNotificationDefaults({
  link: "https://app.example/rooms/{roomId}",
  email: { delay: 3600, kinds: { $invoice: false } },
});`,
  getNotificationSettings: "const { email } = await atrium.inbox(identityId).getSettings();",
  updateNotificationSettings:
    "await atrium.inbox(identityId).updateSettings({ email: { rooms: { [roomId]: false } } });",
  listSentNotifications: "const sent = await atrium.inbox(identityId).listSent({ limit: 20 });",

  getRoomAccess: "const { default_accesses, groups_accesses } = await atrium.getRoomAccess(roomId);",
  updateRoomAccess: `await atrium.updateRoomAccess(roomId, {
  defaultAccesses: "viewer",
  groupsAccesses: { [groupId]: "editor" },
  identitiesAccesses: { [identityId]: ["none"] }, // a ban
});`,
  checkRoomAccess: "const { permissions, sources } = await atrium.checkRoomAccess(roomId, identityId);",
  getDefaultAccess: "const permissions = await atrium.organization.getDefaultAccess();",
  updateDefaultAccess: 'await atrium.organization.setDefaultAccess("viewer");',

  listRoomLinks: "const { links, cursor } = await atrium.listRoomLinks(roomId);",
  createRoomLink: `const { link, secret } = await atrium.createRoomLink(roomId, { permissions: "commenter", maxUses: 20 });
const url = \`https://app.example/guest#\${secret}\`; // browsers send no fragment to servers`,
  revokeRoomLink: "await atrium.revokeRoomLink(roomId, linkId);",

  listFiles: 'const { files, cursor } = await atrium.files.list(roomId, { mimeType: "image/" });',
  uploadFile:
    'const { key, url } = await atrium.files.upload(roomId, { userId, file, filename: "plan.png" });',
  findUsers: 'const { users, cursor } = await atrium.users.find({ search: "Ada" });',
  findFiles: 'const { files, cursor } = await atrium.files.find({ search: "plan" });',
  deleteFile: "await atrium.files.delete(fileKey);",

  listStores: "const stores = await atrium.stores.list(roomId);",
  getStore: 'const { entries, seq, next } = await atrium.stores.getPage(roomId, "tasks", { limit: 100 });',
  getEntry: 'const { value, version } = await atrium.stores.get(roomId, "tasks", "milk");',
  setEntry: 'const { version } = await atrium.stores.set(roomId, "tasks", "milk", { title: "Buy milk" });',
  updateEntry: 'const { version } = await atrium.stores.update(roomId, "tasks", "milk", { done: true });',
  deleteEntry: 'await atrium.stores.delete(roomId, "tasks", "milk");',
  writeStores: `const [response] = await atrium.stores.batch(roomId, [
  {
    requestId: crypto.randomUUID(),
    operations: [
      { type: "STORE_SET", store: "tasks", key: "milk", value: { title: "Buy milk" } },
      { type: "STORE_DELETE", store: "tasks", key: "bread" },
    ],
  },
]);`,
  listComments: "const { comments } = await atrium.comments.list(roomId, { resolved: false });",
  createComment: 'const comment = await atrium.comments.create(roomId, { userId, text: "Shall we begin?" });',
  updateComment: "const comment = await atrium.comments.update(roomId, commentId, { resolved: true });",
  listThreads: "const { threads } = await atrium.threads.list(roomId, { userId, unread: true });",
  getThread: "const thread = await atrium.threads.get(roomId, threadId, { userId });",
  listThreadParticipants: "const participants = await atrium.threads.participants(roomId, threadId);",
  updateThread: "const thread = await atrium.threads.update(roomId, threadId, { resolved: true });",
  deleteThread: "await atrium.threads.delete(roomId, threadId);",
  subscribeToThread: "const thread = await atrium.threads.subscribe(roomId, threadId, userId);",
  unsubscribeFromThread: "const thread = await atrium.threads.unsubscribe(roomId, threadId, userId);",
  markThreadAsRead: "const thread = await atrium.threads.markAsRead(roomId, threadId, userId, seq);",
  createTextMention:
    'const isNotified = await atrium.documents.mention(roomId, { mentionId, userId, document: "notes" });',
  deleteTextMention: "await atrium.documents.unmention(roomId, { mentionId, userId });",
  getSubscriptionSettings: "const settings = await atrium.threads.settings(roomId, userId);",
  updateSubscriptionSettings:
    'const settings = await atrium.threads.updateSettings(roomId, userId, { threads: "all" });',
  deleteComment: "await atrium.comments.delete(roomId, commentId);",
  broadcast: 'const delivered = await atrium.broadcast(roomId, "announcement", { text: "Lunch!" });',
  getPresence: "const presence = await atrium.getPresence(roomId);",
  addParticipant:
    'const expiresAt = await atrium.addParticipant(roomId, userId, { presence: { status: "reading" }, ttl: 60 });',
  removeParticipant: "await atrium.removeParticipant(roomId, userId);",

  listDocuments: "const documents = await atrium.documents.list(roomId);",
  getDocumentSummary:
    'const { bytes, versions, updated_at } = await atrium.documents.summary(roomId, "notes");',
  getDocument: 'const update = await atrium.documents.get(roomId, "notes"); // for Y.applyUpdate',
  getDocumentContent:
    'const content = await atrium.documents.content(roomId, "notes", { root: "default", type: "text" });',
  updateDocument:
    'const applied = await atrium.documents.apply(roomId, "notes", update); // of Y.encodeStateAsUpdate',
  deleteDocument: 'await atrium.documents.delete(roomId, "notes");',
  getDocumentTrail: 'const { trail, next } = await atrium.documents.trail(roomId, "notes", { limit: 20 });',
  listDocumentVersions:
    'const { versions, next } = await atrium.documents.versions(roomId, "notes", { limit: 20 });',
  createDocumentVersion:
    'const { version } = await atrium.documents.createVersion(roomId, "notes", "Draft");',
  updateDocumentVersion: 'await atrium.documents.renameVersion(roomId, "notes", version, "Final");',
  deleteDocumentVersion: 'await atrium.documents.deleteVersion(roomId, "notes", version);',
  restoreDocumentVersion: 'const applied = await atrium.documents.restoreVersion(roomId, "notes", version);',
  rollBackDocument:
    'const applied = await atrium.documents.rollBack(roomId, "notes", { userId, from: version });',
  compareDocumentVersions:
    'const changes = await atrium.documents.compare(roomId, "notes", { from: version, type: "text" });',

  listWebhooks: "const { webhooks } = await atrium.webhooks.list({ stats: '24h' });",
  createWebhook: `const { id, secret } = await atrium.webhooks.create({
  url: "https://example.com/atrium",
  events: ["participant.joined", "participant.left"],
});`,
  getWebhook: "const webhook = await atrium.webhooks.get(webhookId);",
  updateWebhook: "const webhook = await atrium.webhooks.update(webhookId, { enabled: false });",
  deleteWebhook: "await atrium.webhooks.delete(webhookId);",
  rotateWebhookSecret: "const { secret } = await atrium.webhooks.rotateSecret(webhookId);",
  testWebhook: "const delivery = await atrium.webhooks.test(webhookId);",
  listWebhookDeliveries:
    'const { deliveries, cursor } = await atrium.webhooks.listDeliveries(webhookId, { status: "failed" });',
  redeliverWebhookDelivery: "const delivery = await atrium.webhooks.redeliver(webhookId, deliveryId);",
  redeliverWebhookDeliveries:
    "const { redelivered, missing } = await atrium.webhooks.redeliverAll(webhookId, [deliveryId]);",
  replayWebhookEvents:
    'const replay = await atrium.webhooks.replay(webhookId, { from: "2026-01-31T09:00:00Z" });',
  getWebhookReplay: "const replay = await atrium.webhooks.getReplay(webhookId);",
  getWebhookStats: 'const stats = await atrium.webhooks.stats(webhookId, "24h");',

  listWorkflows: "const { workflows } = await atrium.workflows.list();",
  createWorkflow: `const workflow = await atrium.workflows.create({
  name: "Greeter",
  events: ["participant.joined"],
  code: \`export default (event) => console.log(event.data.user.name, "is here");\`,
});`,
  getWorkflow: "const workflow = await atrium.workflows.get(workflowId);",
  updateWorkflow: "const workflow = await atrium.workflows.update(workflowId, { enabled: false });",
  deleteWorkflow: "await atrium.workflows.delete(workflowId);",
  listWorkflowVersions: "const { versions } = await atrium.workflows.listVersions(workflowId);",
  getWorkflowVersion: "const { code } = await atrium.workflows.getVersion(workflowId, version);",
  restoreWorkflowVersion: "const workflow = await atrium.workflows.restoreVersion(workflowId, version);",
  listWorkflowExecutions:
    "const { executions, cursor } = await atrium.workflows.listExecutions(workflowId, { limit: 20 });",
  getWorkflowExecution: "const { status } = await atrium.workflows.getExecution(workflowId, executionId);",
  runWorkflow:
    'const execution = await atrium.workflows.run(workflowId, "participant.joined", { roomId, userId });',
  getWorkflowStats: 'const stats = await atrium.workflows.stats(workflowId, "24h");',
  triggerWorkflow: "const { id } = await atrium.workflows.trigger(workflowId, { order: 8731 });",
  rotateWorkflowTriggerSecret:
    "const { trigger_secret } = await atrium.workflows.rotateTriggerSecret(workflowId);",
  deleteWorkflowTriggerSecret: "const workflow = await atrium.workflows.deleteTriggerSecret(workflowId);",
  listWorkflowSecrets: "const secrets = await atrium.workflows.listSecrets(workflowId);",
  setWorkflowSecret: 'await atrium.workflows.setSecret(workflowId, "TOKEN", "a value");',
  deleteWorkflowSecret: 'await atrium.workflows.deleteSecret(workflowId, "TOKEN");',

  listEvents: 'const { events, cursor } = await atrium.events.list({ from: "2026-01-31" });',
  listRoomEvents: "const { events, cursor } = await atrium.events.list({ roomId });",
};

/** Hints for operations without a call, by the ID of the operation. */
export const INSTEAD_OF_SDK: Readonly<Record<string, string>> = {
  redeemLink:
    "`redeemLink` of `atrium/client` sends it from the page of a guest, and gets the guest's further tokens.",
  readFile: "The file's `url` is all that reading takes: in an `<img>`, a link or a `fetch`.",
  openSocket: "`AtriumClient` of `atrium/client` opens it in `join()`, and speaks its protocol.",
  openSocketByCustomId: "`enterRoom({ customId })` of `atrium/client` opens it in `join()`.",
  listOwnInboxNotifications: "A page sends it by `fetch`, with its identity's token.",
  countOwnInboxNotifications: "A page sends it by `fetch`, with its identity's token.",
  markOwnInboxNotificationsAsRead: "A page sends it by `fetch`, with its identity's token.",
  deleteOwnInboxNotification: "A page sends it by `fetch`, with its identity's token.",
  deleteOwnInboxNotifications: "A page sends it by `fetch`, with its identity's token.",
  getOwnNotificationSettings: "A page sends it by `fetch`, with its identity's token.",
  updateOwnNotificationSettings: "A page sends it by `fetch`, with its identity's token.",
  listOwnPushSubscriptions: "A page sends it by `fetch`, with its identity's token.",
  subscribeToPush: "A page sends it by `fetch`, with its identity's token.",
  unsubscribeFromPush: "A page sends it by `fetch`, with its identity's token.",
  openInboxSocket: "A page opens it as a `WebSocket`, and joins with its identity's token.",
  openDocumentSocket: "Editors open it with the client that they have.",
  downloadStore: "`AtriumClient` of `atrium/client` downloads a large store by itself in `sync()`.",
};
