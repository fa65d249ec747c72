/** Routes of the dashboard. All but the sign-in pages require a sign-in session. */
import { lazy, Suspense } from "react";
import { Redirect, Route, Switch, useParams } from "wouter";
import { loadPage } from "./data/load-page.ts";
import { useMe } from "./data/me.ts";
import { OrganizationProvider } from "./data/organization.tsx";
import { OrganizationPages } from "./organization-pages.tsx";
import { Shell } from "./shell/shell.tsx";
import { ErrorMessage } from "./ui/error-message.tsx";
import { Loading } from "./ui/loading.tsx";
import { NotFound } from "./ui/not-found.tsx";

const SignIn = lazy(() => loadPage(() => import("./sign-in/sign-in.tsx")));
const SignUp = lazy(() => loadPage(() => import("./sign-in/sign-up.tsx")));
const ForgotPassword = lazy(() => loadPage(() => import("./sign-in/forgot-password.tsx")));
const Invitation = lazy(() => loadPage(() => import("./sign-in/invitation.tsx")));
const PasswordLink = lazy(() => loadPage(() => import("./sign-in/password-link.tsx")));
const NewOrganization = lazy(() => loadPage(() => import("./sign-in/new-organization.tsx")));

export const App = () => (
  <Suspense fallback={<Loading />}>
    <Switch>
      <Route path="/sign-in" component={SignIn} />
      <Route path="/sign-up" component={SignUp} />
      <Route path="/forgot-password" component={ForgotPassword} />
      <Route path="/invitations/:token" component={Invitation} />
      <Route path="/password-links/:token" component={PasswordLink} />
      <Route path="/new" component={NewOrganization} />
      <Route path="/" component={Home} />
      <Route path="/:accountId/*?" component={Organization} />
    </Switch>
  </Suspense>
);

/** Redirects to the organization that the person opened last. */
function Home() {
  const { me, error, isPending } = useMe();
  if (isPending) return <Loading />;
  if (error) return <ErrorMessage error={error} />;
  if (me === null) return <Redirect to="/sign-in" replace />;
  const latest = localStorage.getItem("organization");
  const { organizations } = me;
  const chosen = organizations.find(({ id }) => id === latest) ?? organizations[0];
  return <Redirect to={chosen === undefined ? "/new" : `/${chosen.id}`} replace />;
}

function Organization() {
  const { accountId = "" } = useParams();
  const { me, error, isPending } = useMe();
  if (isPending) return <Loading />;
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
      <Shell>
        <OrganizationPages />
      </Shell>
    </OrganizationProvider>
  );
}
