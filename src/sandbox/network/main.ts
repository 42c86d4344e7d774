// The broker's process: no keys, no database, no environment; it exits with its daemon.
import { Broker } from "./broker.ts";

process.title = "ambit-broker";
process.umask(0o077);
process.chdir("/");
for (const name of Object.keys(process.env)) delete process.env[name];

const send = process.send?.bind(process);
if (send === undefined) process.exit(2);

const broker = new Broker(
  (message) => {
    if (process.connected) send(message, undefined, {}, () => undefined);
  },
  () => Date.now(),
);

// A message that does not parse ends the process: sandboxes lose their network, and nothing runs on a partial state.
process.on("message", (message, handle) => {
  void broker.take(message, handle).then((isUnderstood) => {
    if (!isUnderstood) process.exit(3);
  });
});
process.on("disconnect", () => process.exit(0));
