/** The pages of an organization, each loaded when it is first opened, or when a pointer or the focus reaches a link to it. */
import { type ComponentType, lazy } from "react";
import { loadPage } from "./data/load-page.ts";
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
  page("/:accountId", () => import("./overview/overview-page.tsx")),
  page("/:accountId/rooms", () => import("./rooms/rooms-page.tsx")),
  page("/:accountId/rooms/:roomId/*?", () => import("./room/room-page.tsx")),
  page("/:accountId/files", () => import("./files/files-page.tsx")),
  page("/:accountId/webhooks", () => import("./webhooks/webhooks-page.tsx")),
  page("/:accountId/webhooks/:webhookId", () => import("./webhooks/webhook-page.tsx")),
  page("/:accountId/workflows", () => import("./workflows/workflows-page.tsx")),
  page("/:accountId/workflows/:workflowId", () => import("./workflows/workflow-page.tsx")),
  page("/:accountId/logs/:part?", () => import("./logs/logs-page.tsx")),
  page("/:accountId/settings/:part?", () => import("./settings/settings-page.tsx")),
];
