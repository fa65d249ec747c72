/** Routes of the dashboard. All but the sign-in pages require a sign-in session. */
import { type ComponentType, lazy, Suspense, useEffect } from "react";
import { Link, matchRoute, Redirect, Route, Router, Switch, useParams, useRouter } from "wouter";
import { latestOrganizationOf, useMe } from "./data/api.ts";
import { loadPage } from "./data/connection.ts";
import { OrganizationProvider } from "./data/organization.tsx";
import { Shell } from "./shell/shell.tsx";
import { ErrorMessage, Loading } from "./ui/feedback.tsx";
import { usePageTitle } from "./ui/page.tsx";

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

const OUTSIDE = [
  page("/sign-in", () => import("./sign-in/sign-in.tsx")),
  page("/sign-up", () => import("./sign-in/sign-up.tsx")),
  page("/forgot-password", () => import("./sign-in/forgot-password.tsx")),
  page("/setup", () => import("./sign-in/setup.tsx")),
  page("/invitations/:token", () => import("./sign-in/invitation.tsx")),
  page("/password-links/:token", () => import("./sign-in/password-link.tsx")),
  page("/oidc/callback", () => import("./sign-in/provider-return.tsx")),
  page("/new", () => import("./sign-in/new-organization.tsx")),
];

export const App = () => (
  <Suspense fallback={<Loading shape="page" />}>
    <Switch>
      {OUTSIDE.map(({ path, Content }) => (
        <Route key={path} path={path} component={Content} />
      ))}
      <Route path="/" component={Home} />
      <Route path="/:accountId/*?" component={Organization} />
    </Switch>
  </Suspense>
);

/** Redirects to the organization that the person opened last. */
function Home() {
  const { me, error, isPending } = useMe();
  if (isPending) return <Loading shape="page" />;
  if (error) return <ErrorMessage error={error} />;
  if (me === null) return <Redirect to="/sign-in" replace />;
  const chosen = latestOrganizationOf(me);
  return <Redirect to={chosen === undefined ? "/new" : `/${chosen.id}`} replace />;
}

function Organization() {
  const { accountId = "" } = useParams();
  const { me, error, isPending } = useMe();
  usePreloading(`/dashboard/${accountId}`);
  if (isPending) return <Loading shape="page" />;
  if (error) return <ErrorMessage error={error} />;
  if (me === null) {
    return <Redirect to={`/sign-in?next=${encodeURIComponent(location.pathname)}`} replace />;
  }
  const organization = me.organizations.find(({ id }) => id === accountId);
  if (organization === undefined)
    return (
      <main id="main">
        <NotFound what="This organization does not exist, or you are not a member of it." />
      </main>
    );
  return (
    <OrganizationProvider key={accountId} me={me} organization={organization}>
      <Router base={`/${accountId}`}>
        <Shell>
          <OrganizationPages />
        </Shell>
      </Router>
    </OrganizationProvider>
  );
}

/** Paths and links within it are relative to the organization. */
const OrganizationPages = () => (
  <Suspense fallback={<Loading shape="page" />}>
    <Switch>
      {PAGES.map(({ path, Content }) => (
        <Route key={path} path={path} component={Content} />
      ))}
      <Route>
        <NotFound what="This page does not exist." />
      </Route>
    </Switch>
  </Suspense>
);

/** Loads the code of the page at once, beside the session, and of others when a pointer or the focus reaches a link. */
function usePreloading(base: string): void {
  const { parser } = useRouter();
  useEffect(() => {
    const preload = ({ pathname }: Location | HTMLAnchorElement) => {
      if (!pathname.startsWith(base)) return;
      const path = pathname.slice(base.length) || "/";
      const page = PAGES.find((one) => matchRoute(parser, one.path, path)[0]);
      // A failed load is repeated when the page is shown.
      page?.load().catch(() => undefined);
    };
    const onReach = ({ target }: Event) => {
      const link = target instanceof Element ? target.closest("a") : null;
      if (link) preload(link);
    };
    preload(location);
    addEventListener("pointerover", onReach);
    addEventListener("focusin", onReach);
    return () => {
      removeEventListener("pointerover", onReach);
      removeEventListener("focusin", onReach);
    };
  }, [parser, base]);
}

/** Page for an unknown URL; its frame has the landmark. */
function NotFound({ what }: { readonly what: string }) {
  usePageTitle("Not found");
  return (
    <div className="sign-in-layout">
      <h1>Not found</h1>
      <p>{what}</p>
      <p>
        <Link href="~/dashboard">Go to overview</Link>
      </p>
    </div>
  );
}

/** The first whose path matches is shown. */
const PAGES = [
  page("/", () => import("./overview/overview-page.tsx")),
  page("/rooms", () => import("./rooms/rooms-page.tsx")),
  page("/rooms/:roomId/*?", () => import("./room/room-page.tsx")),
  page("/people/:part?", () => import("./people/people-page.tsx")),
  page("/people/identities/:identityId", () => import("./people/identity-page.tsx")),
  page("/people/groups/:groupId", () => import("./people/group-page.tsx")),
  page("/files", () => import("./rooms/files-page.tsx")),
  page("/webhooks", () => import("./webhooks/webhooks-page.tsx")),
  page("/webhooks/:webhookId/*?", () => import("./webhooks/webhook-page.tsx")),
  page("/workflows", () => import("./workflows/workflows-page.tsx")),
  page("/workflows/:workflowId/*?", () => import("./workflows/workflow-page.tsx")),
  page("/logs/:part?", () => import("./logs/logs-page.tsx")),
  page("/settings/:part?", () => import("./settings/settings-page.tsx")),
];
