// The command that the suite starts as its client: it hands the address, and what a person would know besides, to the test at the port it was given, and waits for the end.
const [port, address] = process.argv.slice(2);
const given = new URLSearchParams({ address, context: process.env.MCP_CONFORMANCE_CONTEXT ?? "{}" });
const answer = await fetch(`http://127.0.0.1:${port}/?${given}`);
process.stdout.write(`${await answer.text()}\n`);
process.exitCode = answer.ok ? 0 : 1;
