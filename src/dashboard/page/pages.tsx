/** The pages of an organization. Each is loaded when a pointer or the focus reaches a link to it, or when it is opened. */
import { type ComponentType, lazy } from "react";
import { loadPage } from "./data/connection.ts";
import { ErrorMessage } from "./ui/feedback.tsx";

interface PageModule {
  readonly default: ComponentType;
}

/** Shown instead of a page whose code does not arrive although the service answers. */
const Broken: PageModule = {
  default: () => (
    <ErrorMessage
      error={new Error("This page's code could not be loaded.")}
      onRetry={() => location.reload()}
    />
  ),
};

const page = (path: string, load: () => Promise<PageModule>) => ({
  path,
  load,
  Content: lazy(() => loadPage(load).catch(() => Broken)),
});

/** The first whose path matches is shown. */
export const PAGES = [
  page("/", () => import("./overview/overview-page.tsx")),
  page("/rooms", () => import("./rooms/rooms-page.tsx")),
  page("/rooms/:roomId/*?", () => import("./room/room-page.tsx")),
  page("/files", () => import("./rooms/files-page.tsx")),
  page("/webhooks", () => import("./webhooks/webhooks-page.tsx")),
  page("/webhooks/:webhookId", () => import("./webhooks/webhook-page.tsx")),
  page("/workflows", () => import("./workflows/workflows-page.tsx")),
  page("/workflows/:workflowId", () => import("./workflows/workflow-page.tsx")),
  page("/logs/:part?", () => import("./logs/logs-page.tsx")),
  page("/settings/:part?", () => import("./settings/settings-page.tsx")),
];
