/** Where the link of an invitation leads: in, by whichever door. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation, useParams } from "wouter";
import { askDoor } from "../data/api.ts";
import { ME, useMe, useSignUp } from "../data/me.ts";
import { Button } from "../ui/button.tsx";
import { Refusal } from "../ui/error-message.tsx";
import { Form } from "../ui/form.tsx";
import { Loading } from "../ui/loading.tsx";
import { TextField } from "../ui/text-field.tsx";
import { EmailField, NewPasswordField } from "./credentials.tsx";
import { Door } from "./sign-in-layout.tsx";

interface Offer {
  readonly organization: { readonly name: string };
  readonly invited_by: string;
}

export function Invitation() {
  const { token = "" } = useParams();
  const { me, isPending } = useMe();
  const offer = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => askDoor<Offer>("GET", `invitations/${encodeURIComponent(token)}`),
  });
  if (offer.error) {
    return (
      <Door title="This invitation is over">
        <Refusal error={offer.error} />
        <p>It was used, withdrawn, or is older than seven days. Ask whoever sent it for a new one.</p>
      </Door>
    );
  }
  if (isPending || offer.data === undefined) return <Loading />;
  return (
    <Door title={`Join ${offer.data.organization.name}`}>
      <p className="soft">{offer.data.invited_by} has invited you.</p>
      {me === null ? <JoinAsNew token={token} /> : <JoinAs name={me.person.name} token={token} />}
    </Door>
  );
}

function JoinAs({ name, token }: { readonly name: string; readonly token: string }) {
  const queries = useQueryClient();
  const [, go] = useLocation();
  const accept = useMutation({
    mutationFn: () => askDoor<object>("POST", `invitations/${encodeURIComponent(token)}/accept`, {}),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ME });
      go("/");
    },
  });
  return (
    <>
      <Refusal error={accept.error} />
      <Button look="primary" isBusy={accept.isPending} onClick={() => accept.mutate()}>
        Join as {name}
      </Button>
    </>
  );
}

function JoinAsNew({ token }: { readonly token: string }) {
  const signUp = useSignUp();
  const [, go] = useLocation();
  return (
    <>
      <Form
        verb="Sign up and join"
        error={signUp.error}
        isBusy={signUp.isPending}
        onSubmit={({ name = "", email = "", password = "" }) =>
          signUp.mutate({ name, email, password, invitation: token }, { onSuccess: () => go("/") })
        }
      >
        <TextField label="Your name" name="name" autoComplete="name" required maxLength={255} />
        <EmailField />
        <NewPasswordField />
      </Form>
      <p className="soft">
        Been here before?{" "}
        <Link href={`/sign-in?next=/dashboard/invitations/${encodeURIComponent(token)}`}>
          Sign in to join
        </Link>
      </p>
    </>
  );
}
