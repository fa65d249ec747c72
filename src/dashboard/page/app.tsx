/** Which page an address means, and who may see it: all but the doors are for those who are signed in. */
import { Redirect, Route, Switch, useParams } from "wouter";
import { useMe } from "./data/me.ts";
import { OrganizationProvider } from "./data/organization.tsx";
import { OrganizationPages } from "./organization-pages.tsx";
import { Shell } from "./shell/shell.tsx";
import { Invitation } from "./sign-in/invitation.tsx";
import { NewOrganization } from "./sign-in/new-organization.tsx";
import { SignIn } from "./sign-in/sign-in.tsx";
import { SignUp } from "./sign-in/sign-up.tsx";
import { Refusal } from "./ui/error-message.tsx";
import { Loading } from "./ui/loading.tsx";
import { NotFound } from "./ui/not-found.tsx";

export const App = () => (
  <Switch>
    <Route path="/sign-in" component={SignIn} />
    <Route path="/sign-up" component={SignUp} />
    <Route path="/invitations/:token" component={Invitation} />
    <Route path="/new" component={NewOrganization} />
    <Route path="/" component={Home} />
    <Route path="/:accountId/*?" component={Inside} />
  </Switch>
);

/** Those who come in by the front door get to the organization that they have looked at last. */
function Home() {
  const { me, error, isPending } = useMe();
  if (isPending) return <Loading />;
  if (error) return <Refusal error={error} />;
  if (me === null) return <Redirect to="/sign-in" replace />;
  const latest = localStorage.getItem("organization");
  const { organizations } = me;
  const chosen = organizations.find(({ id }) => id === latest) ?? organizations[0];
  return <Redirect to={chosen === undefined ? "/new" : `/${chosen.id}`} replace />;
}

function Inside() {
  const { accountId = "" } = useParams();
  const { me, error, isPending } = useMe();
  if (isPending) return <Loading />;
  if (error) return <Refusal error={error} />;
  if (me === null) {
    return <Redirect to={`/sign-in?next=${encodeURIComponent(location.pathname)}`} replace />;
  }
  const organization = me.organizations.find(({ id }) => id === accountId);
  if (organization === undefined) return <NotFound what="You belong to no organization with this address." />;
  return (
    <OrganizationProvider key={accountId} me={me} organization={organization}>
      <Shell>
        <OrganizationPages />
      </Shell>
    </OrganizationProvider>
  );
}
