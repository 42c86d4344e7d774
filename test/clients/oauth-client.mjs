// The command that the suite starts as its client: it hands the address to the test at the port it was given, and waits for the end.
const [port, address] = process.argv.slice(2);
const answer = await fetch(`http://127.0.0.1:${port}/?address=${encodeURIComponent(address)}`);
process.stdout.write(`${await answer.text()}\n`);
process.exitCode = answer.ok ? 0 : 1;
