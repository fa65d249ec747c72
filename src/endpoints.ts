/** The endpoints of the API: the parts that declare them, each of which is loaded when it is asked for. */
import type { EventLogContext } from "./features/events/queries.ts";
import type { FileContext } from "./features/files/context.ts";
import type { IdentityContext } from "./features/identities/commands.ts";
import type { PushContext } from "./features/inbox/push-commands.ts";
import type { AgentContext } from "./features/mcp/call-operation.ts";
import type { MemberContext } from "./features/members/commands.ts";
import type { OrganizationContext } from "./features/organizations/deletion.ts";
import type { PrivacyContext } from "./features/privacy/queries.ts";
import type { QuotaContext } from "./features/quotas/guard.ts";
import type { RequestLogContext } from "./features/request-log/queries.ts";
import type { SocketContext } from "./features/room-content/routes.ts";
import type { RoomContext } from "./features/rooms/context.ts";
import type { WebhookContext } from "./features/webhooks/context.ts";
import type { WorkflowContext } from "./features/workflows/context.ts";
import { ACCOUNT_PATH, type Endpoint } from "./http/endpoint.ts";

type Endpoints = readonly Endpoint<AppContext>[];

/** Endpoints that are loaded together, and so do not delay the start of an isolate. */
interface Part {
  /** Matches the paths of all of them, and perhaps others. */
  readonly paths: RegExp;
  readonly load: () => Promise<Endpoints>;
}

/** The part whose paths begin with one of these, in which `*` is any segment. */
const part = (
  beginnings: readonly string[],
  ...modules: readonly (() => Promise<{ readonly endpoints: Endpoints }>)[]
): Part => {
  const patterns = beginnings.map((path) => (ACCOUNT_PATH + path).replaceAll(/:\w+|\*/g, "[^/]+"));
  return {
    paths: new RegExp(`^(${patterns.join("|")})(/|$)`),
    load: async () =>
      (await Promise.all(modules.map((load) => load()))).flatMap(({ endpoints }) => endpoints),
  };
};

/** Parts in the order of their routes. */
const PARTS: readonly Part[] = [
  part(["/api-keys"], () => import("./features/accounts/routes.ts")),
  part(["/organization"], () => import("./features/organizations/routes.ts")),
  part(["/members", "/invitations"], () => import("./features/members/routes.ts")),
  part(["/audit"], () => import("./features/audit/routes.ts")),
  part(["/requests"], () => import("./features/request-log/routes.ts")),
  part(["/overview", "/usage"], () => import("./features/metrics/routes.ts")),
  part(["/quotas"], () => import("./features/quotas/routes.ts")),
  part(["/rooms"], () => import("./features/rooms/routes.ts")),
  part(["/users", "/organization/users", "/rooms/*", "/tokens"], () => import("./features/users/routes.ts")),
  part(["/identities"], () => import("./features/identities/routes.ts")),
  part(["/identify", "/identities/*/tokens"], () => import("./features/identities/routes-tokens.ts")),
  part(["/groups"], () => import("./features/identities/routes-groups.ts")),
  part(["/rooms/*/access", "/access"], () => import("./features/access/routes.ts")),
  part(["/rooms/*/links", "/links"], () => import("./features/identities/routes-links.ts")),
  part(
    ["/identities/*/inbox-notifications", "/me/inbox-notifications", "/inbox-notifications", "/inbox"],
    () => import("./features/inbox/routes.ts"),
  ),
  part(
    [
      "/notification-defaults",
      "/identities/*/notification-settings",
      "/identities/*/sent-notifications",
      "/me/notification-settings",
    ],
    () => import("./features/inbox/routes-settings.ts"),
  ),
  part(
    ["/identities/*/push-subscriptions", "/me/push-subscriptions"],
    () => import("./features/inbox/routes-push.ts"),
  ),
  part(["/me/mentions"], () => import("./features/inbox/routes-mentions.ts")),
  part(
    ["/users/*/personal-data", "/identities/*/personal-data"],
    () => import("./features/privacy/routes.ts"),
  ),
  part(["/files", "/upload", "/storage", "/organization/files"], () => import("./features/files/routes.ts")),
  part(["/rooms/*/socket", "/rooms/custom/*/socket"], () => import("./features/room-content/routes.ts")),
  part(
    ["/rooms/*/documents"],
    () => import("./features/room-content/documents/routes-document-sockets.ts"),
    () => import("./features/room-content/documents/routes-documents.ts"),
    () => import("./features/room-content/documents/routes-document-history.ts"),
    () => import("./features/room-content/documents/routes-document-edits.ts"),
    () => import("./features/room-content/documents/routes-suggestions.ts"),
  ),
  part(["/rooms/*/streams"], () => import("./features/room-content/streams/routes-streams.ts")),
  part(["/rooms/*/changes"], () => import("./features/room-content/routes-changes.ts")),
  part(["/rooms/*/stores", "/rooms/*/downloads"], () => import("./features/room-content/routes-stores.ts")),
  part(
    ["/rooms/*/broadcast", "/rooms/*/presence", "/rooms/*/participants", "/rooms/*/comments"],
    () => import("./features/room-content/routes-messaging.ts"),
  ),
  part(["/rooms/*/threads", "/rooms/*/users"], () => import("./features/room-content/routes-threads.ts")),
  part(["/webhooks"], () => import("./features/webhooks/routes.ts")),
  part(
    ["/workflows"],
    () => import("./features/workflows/routes.ts"),
    () => import("./features/workflows/routes-trigger.ts"),
  ),
  part(["/events", "/rooms/*/events"], () => import("./features/events/routes.ts")),
];

/** The parts that may have an endpoint at a path; none if it is unknown. */
export const partsAt = (path: string): readonly Part[] => PARTS.filter(({ paths }) => paths.test(path));

/** Every endpoint of the API, or of some parts. */
export const loadEndpoints = async (parts = PARTS): Promise<Endpoints> =>
  (await Promise.all(parts.map(({ load }) => load()))).flat();

export interface AppContext
  extends QuotaContext,
    OrganizationContext,
    MemberContext,
    RequestLogContext,
    RoomContext,
    SocketContext,
    IdentityContext,
    Omit<PushContext, "inboxes">,
    FileContext,
    PrivacyContext,
    WebhookContext,
    WorkflowContext,
    EventLogContext {
  readonly inboxes: PushContext["inboxes"];
  readonly actorIn: AgentContext["actorIn"];
}
