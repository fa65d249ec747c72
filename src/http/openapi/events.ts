/** Describes what the service posts to URLs of its users. */
import * as z from "zod";
import type { createDocument, ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";

type Document = ReturnType<typeof createDocument>;

/** What the service posts to URLs of its users, by the event's name. */
export type DocumentedEvents = Readonly<
  Record<string, { readonly summary: string; readonly schema: z.ZodType }>
>;

const SignedHeaders = z.object({
  "webhook-id": z.string().meta({ description: "The event's ID, the same for every attempt." }),
  "webhook-timestamp": z.string().meta({ description: "When the attempt began, in seconds since 1970." }),
  "webhook-signature": z.string().meta({
    description:
      "`v1,` and the signature in Base64, as Standard Webhooks defines it; several are separated by spaces.",
  }),
});

/** `participant.joined` as `onParticipantJoined`. */
const receiverOf = (name: string): string =>
  `on${name
    .split(".")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("")}`;

/** Where an event stands until {@link sendEvents}: it is output of the service, although a request carries it. */
const EVENT = "default";

/** The section `webhooks`, as zod-openapi takes it: with the names and forms that schemas have in responses. */
export const webhooksOf = (events: DocumentedEvents): ZodOpenApiPathsObject =>
  Object.fromEntries(
    Object.entries(events).map(([name, { summary, schema }]) => {
      const post: ZodOpenApiOperationObject = {
        operationId: receiverOf(name),
        tags: ["Webhooks"],
        summary,
        security: [],
        requestParams: { header: SignedHeaders },
        responses: {
          [EVENT]: { description: "", content: { "application/json": { schema } } },
          "2XX": { description: "The event has arrived. Any other status has it sent again." },
          "410": { description: "No event is wanted any more: the webhook is disabled." },
        },
      };
      return [name, { post }];
    }),
  );

/** Makes each event the body of the request that carries it. */
export function sendEvents(webhooks: Document["webhooks"] = {}): void {
  for (const { post } of Object.values(webhooks)) {
    const event = post?.responses?.[EVENT];
    if (post?.responses === undefined || event === undefined || !("content" in event)) continue;
    post.requestBody = { required: true, content: event.content ?? {} };
    delete post.responses[EVENT];
  }
}
