/** Routes of an organization's pages. */
import { lazy, Suspense } from "react";
import { Route, Switch } from "wouter";
import { LogsPage } from "./logs/logs-page.tsx";
import { OverviewPage } from "./overview/overview-page.tsx";
import { RoomPage } from "./room/room-page.tsx";
import { RoomsPage } from "./rooms/rooms-page.tsx";
import { SettingsPage } from "./settings/settings-page.tsx";
import { Loading } from "./ui/loading.tsx";
import { NotFound } from "./ui/not-found.tsx";
import { WebhookPage } from "./webhooks/webhook-page.tsx";
import { WebhooksPage } from "./webhooks/webhooks-page.tsx";
import { WorkflowsPage } from "./workflows/workflows-page.tsx";

/** Loaded on demand, because it contains the code editor. */
const WorkflowPage = lazy(() => import("./workflows/workflow-page.tsx"));

export const OrganizationPages = () => (
  <Suspense fallback={<Loading />}>
    <Switch>
      <Route path="/:accountId" component={OverviewPage} />
      <Route path="/:accountId/rooms" component={RoomsPage} />
      <Route path="/:accountId/rooms/:roomId/*?" component={RoomPage} />
      <Route path="/:accountId/webhooks" component={WebhooksPage} />
      <Route path="/:accountId/webhooks/:webhookId" component={WebhookPage} />
      <Route path="/:accountId/workflows" component={WorkflowsPage} />
      <Route path="/:accountId/workflows/:workflowId" component={WorkflowPage} />
      <Route path="/:accountId/logs/:part?" component={LogsPage} />
      <Route path="/:accountId/settings/:part?" component={SettingsPage} />
      <Route>
        <NotFound what="This page does not exist." />
      </Route>
    </Switch>
  </Suspense>
);
