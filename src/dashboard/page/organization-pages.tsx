/** The pages of one organization, by their addresses below it. */
import { lazy, Suspense } from "react";
import { Route, Switch } from "wouter";
import { OverviewPage } from "./overview/overview-page.tsx";
import { RoomPage } from "./room/room-page.tsx";
import { RoomsPage } from "./rooms/rooms-page.tsx";
import { SettingsPage } from "./settings/settings-page.tsx";
import { Loading } from "./ui/loading.tsx";
import { NotFound } from "./ui/not-found.tsx";
import { WebhookPage } from "./webhooks/webhook-page.tsx";
import { WebhooksPage } from "./webhooks/webhooks-page.tsx";
import { WorkflowsPage } from "./workflows/workflows-page.tsx";

/** With the code editor, which nobody else should wait for. */
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
      <Route path="/:accountId/settings/:part?" component={SettingsPage} />
      <Route>
        <NotFound what="There is no such page." />
      </Route>
    </Switch>
  </Suspense>
);
