// Looks every name up with dns.lookup of Node and prints what it returned, for comparison with our resolver. It takes the
// arguments of getaddrinfo.c and prints the same lines:
//
//   START_NS END_NS ERRNO ADDRESS...
//
// ERRNO is 0 or that of the error, which is the number that libuv gives to a code of getaddrinfo. Of the flags, 4 and 6 ask for
// one family, a and m give the hints ADDRCONFIG and V4MAPPED; dns.lookup has none of the others.
//
// With the single argument "version" it prints the version of Node.
'use strict';

const dns = require('node:dns');
const { performance } = require('node:perf_hooks');

// now is the time of day in nanoseconds: its start has microseconds, and the clock since then is a steady one.
function now() {
  return BigInt(Math.round(performance.timeOrigin * 1000)) * 1000n + BigInt(Math.round(performance.now() * 1e6));
}

function options(flags) {
  return {
    all: true,
    verbatim: true,
    family: flags.includes('4') ? 4 : flags.includes('6') ? 6 : 0,
    hints: (flags.includes('a') ? dns.ADDRCONFIG : 0) | (flags.includes('m') ? dns.V4MAPPED : 0),
  };
}

function call(flags, name) {
  return new Promise((resolve) => {
    const start = now();
    dns.lookup(name, options(flags), (err, list) => {
      const end = now();
      const words = [start, end, err ? err.errno : 0, ...(err ? [] : list.map((a) => a.address))];
      process.stdout.write(words.join(' ') + '\n', resolve);
    });
  });
}

async function main([pause, ...calls]) {
  for (let i = 0; i + 1 < calls.length; i += 2) {
    if (i > 0) {
      await new Promise((resolve) => setTimeout(resolve, Number(pause)));
    }
    await call(calls[i], calls[i + 1]);
  }
}

if (process.argv[2] === 'version') {
  console.log(process.versions.node);
} else {
  main(process.argv.slice(2));
}
