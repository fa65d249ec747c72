/** The parameters of REST paths: their meaning, form and, for samples, an example. */

const UUID = { format: "uuid" } as const;
const upTo = (maxLength: number) => ({ minLength: 1, maxLength });

export const PATH_PARAMETERS: Readonly<
  Record<
    string,
    {
      readonly description: string;
      readonly format?: string;
      readonly minLength?: number;
      readonly maxLength?: number;
      /** Shown by samples; other parameters are variables there. */
      readonly example?: string;
    }
  >
> = {
  accountId: { description: "Your organization's ID.", ...UUID },
  keyId: { description: "The API key's ID.", ...UUID },
  personId: { description: "The member's ID.", ...UUID },
  invitationId: { description: "The invitation's ID.", ...UUID },
  roomId: { description: "The room's ID.", ...UUID },
  userId: { description: "The user's ID.", ...UUID },
  identityId: { description: "The identity's ID.", ...UUID },
  groupId: { description: "The group's ID.", ...UUID },
  notificationId: { description: "The notification's ID.", ...UUID },
  linkId: { description: "The link's ID.", ...UUID },
  customId: { description: "Your own identifier, percent-encoded." },
  store: {
    description: "The store's name, percent-encoded: 1 to 128 characters.",
    ...upTo(128),
    example: "tasks",
  },
  downloadId: { description: "The download's ID, which the WebSocket gave the client." },
  key: {
    description: "The entry's key, percent-encoded: 1 to 255 characters.",
    ...upTo(255),
    example: "milk",
  },
  document: {
    description: "The document's name, percent-encoded: 1 to 255 characters.",
    ...upTo(255),
    example: "notes",
  },
  stream: {
    description: "The stream's name, percent-encoded: 1 to 255 characters.",
    ...upTo(255),
    example: "answer",
  },
  fileKey: { description: "The file's key, percent-encoded. Its slashes need no encoding." },
  commentId: { description: "The comment's ID.", ...UUID },
  suggestionId: { description: "The suggestion's ID.", ...UUID },
  threadId: { description: "The thread's ID, which is that of its first comment.", ...UUID },
  mentionId: {
    description: "Your own ID of the mention, percent-encoded: 1 to 255 characters.",
    ...upTo(255),
  },
  version: { description: "The number of the version." },
  webhookId: { description: "The webhook's ID.", ...UUID },
  executionId: { description: "The execution's ID.", ...UUID },
  workflowId: { description: "The workflow's ID.", ...UUID },
  secret: { description: "The secret's name, as a program reads it from `env`.", example: "TOKEN" },
  requestId: { description: "The request ID of a response." },
  deliveryId: { description: "The delivery's ID.", ...UUID },
};
