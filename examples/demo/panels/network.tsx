/** The DevTools' panel of the network, which lists each message. */
import { openDevTools } from "atrium/devtools";
import { useRoom } from "atrium/react";
import { useEffect } from "react";

export default function Network() {
  const { client } = useRoom();
  useEffect(() => openDevTools(client, { isOpen: true }), [client]);
  return null;
}
