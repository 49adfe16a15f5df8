"""Pairs of generated programs, one with a bug and one corrected, with the right verdicts.

A template is a function of a random generator. It returns the source of the program with the
bug, that of the corrected one, and the right verdicts for the bug. These are `None` if the
machine decides whether the bug shows.
"""

import shutil

CHOICE = {"ID", "ND", "UD"}
ORDER = {"OD-victim", "OD-brittle", "ID", "ND"}
PAIRS = 6


def names(rng, least=4, most=10):
    """Returns distinct words, sorted."""
    return sorted({"".join(rng.choices("abcdefghij", k=4)) for _ in range(rng.randint(least, most) * 2)})[:rng.randint(least, most)]


def array(words):
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"


def test(body, name="shows", uses=""):
    return f"{uses}\n#[test]\nfn {name}() {{\n{body}\n}}\n"


def map_order(rng):
    words = names(rng)
    collected = rng.choice(["map.keys().copied()", "map.iter().map(|(key, _)| *key)", "map.into_keys()", "map.drain().map(|(key, _)| key)"])
    mutable = "mut " if "drain" in collected else ""
    start = f"let {mutable}map: std::collections::HashMap<&str, usize> = {array(words)}.into_iter().zip(0..).collect();\n"
    return (test(f"{start}let found: Vec<&str> = {collected}.collect();\nassert_eq!(found, {array(words)});"),
            test(f"{start}let mut found: Vec<&str> = {collected}.collect();\nfound.sort();\nassert_eq!(found, {array(words)});"), CHOICE)


def set_text(rng):
    words = names(rng, 3, 6)
    separator = rng.choice([",", " ", "-"])
    start = f"let set = std::collections::HashSet::from({array(words)});\nlet mut found: Vec<&str> = set.iter().copied().collect();\n"
    end = f'assert_eq!(found.join("{separator}"), "{separator.join(words)}");'
    return test(start.replace("let mut found", "let found") + end), test(f"{start}found.sort();\n{end}"), CHOICE


def fixed_hasher(rng):
    numbers = ", ".join(str(rng.randint(0, 10**6)) for _ in range(rng.randint(5, 20)))
    kept = "std::collections::HashMap<u32, (), std::hash::BuildHasherDefault<std::hash::DefaultHasher>>"
    start = f"let numbers = [{numbers}];\nlet map: {kept} = numbers.into_iter().map(|n| (n, ())).collect();\n"
    random_state = start.replace(kept, "std::collections::HashMap<u32, ()>")
    return (test(f"{random_state}let folded = map.keys().fold(7u64, |a, n| a.wrapping_mul(31).wrapping_add(u64::from(*n)));\n"
                 "let again = numbers.into_iter().fold(7u64, |a, n| a.wrapping_mul(31).wrapping_add(u64::from(n)));\nassert_eq!(folded, again);"),
            test(f"{start}let folded = map.keys().fold(7u64, |a, n| a.wrapping_add(u64::from(*n) * 31));\n"
                 "let again = map.keys().fold(7u64, |a, n| a.wrapping_add(u64::from(*n) * 31));\nassert_eq!(folded, again);"), CHOICE)


def folder(rng):
    words = names(rng)
    start = ('let folder = std::env::temp_dir().join(format!("listed-{}", std::process::id()));\n'
             f"std::fs::create_dir_all(&folder).unwrap();\nfor name in {array(words)} {{ std::fs::write(folder.join(name), name).unwrap(); }}\n"
             "let mut found: Vec<String> = std::fs::read_dir(&folder).unwrap()\n"
             ".map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();\nstd::fs::remove_dir_all(&folder).unwrap();\n")
    end = f"assert_eq!(found, {array(words)});"
    return test(start.replace("let mut found", "let found") + end), test(f"{start}found.sort();\n{end}"), CHOICE


def random_bytes(rng):
    among = rng.randint(2, 4)
    use = "use std::hash::{BuildHasher, RandomState};"
    return (test(f"assert_ne!(RandomState::new().hash_one(1) % {among}, {rng.randrange(among)});", uses=use),
            test("let state = RandomState::new();\nassert_eq!(state.hash_one(1), state.clone().hash_one(1));", uses=use), CHOICE)


def margin(rng):
    sleep, margin = rng.randint(5, 40), rng.randint(1, 8)
    start = f"let start = std::time::Instant::now();\nstd::thread::sleep(std::time::Duration::from_millis({sleep}));\n"
    return (test(f"{start}assert!(start.elapsed().as_millis() < {sleep + margin});"),
            test(f"{start}assert!(start.elapsed().as_millis() >= {sleep});"), CHOICE)


def lost_update(rng):
    threads = rng.randint(2, 4)
    order = rng.choice(["SeqCst", "Relaxed"])
    adds = {False: f"let now = COUNT.load({order}); COUNT.store(now + 1, {order});", True: f"COUNT.fetch_add(1, {order});"}
    def source(is_right):
        return test("let threads: Vec<_> = (0.." + str(threads) + ").map(|_| std::thread::spawn(|| { " + adds[is_right]
                    + " })).collect();\nthreads.into_iter().for_each(|thread| thread.join().unwrap());\n"
                    + f"assert_eq!(COUNT.load({order}), {threads});",
                    uses=f"use std::sync::atomic::{{AtomicUsize, Ordering::{order}}};\nstatic COUNT: AtomicUsize = AtomicUsize::new(0);")
    return source(False), source(True), CHOICE


def deadlock(rng):
    scoped = rng.choice([True, False])
    def source(first, second):
        other = "let _b = B.lock().unwrap(); let _a = A.lock().unwrap();" if second else "let _a = A.lock().unwrap(); let _b = B.lock().unwrap();"
        work = f"let thread = std::thread::spawn(|| {{ {other} }});\n{{ {first} }}\nthread.join().unwrap();"
        if scoped:
            work = f"std::thread::scope(|scope| {{ scope.spawn(|| {{ {other} }}); {first} }});"
        return test(work, uses="use std::sync::Mutex;\nstatic A: Mutex<u8> = Mutex::new(0);\nstatic B: Mutex<u8> = Mutex::new(0);")
    first = "{ let _a = A.lock().unwrap(); let _b = B.lock().unwrap(); }"
    return source(first, True), source(first, False), CHOICE


def first_message(rng):
    threads = rng.randint(2, 4)
    start = (f"let (send, receive) = mpsc::channel();\nfor n in 0..{threads} {{ let send = send.clone(); std::thread::spawn(move || send.send(n).unwrap()); }}\n"
             "drop(send);\nlet mut found: Vec<u32> = receive.iter().collect();\n")
    end = f"assert_eq!(found, (0..{threads}).collect::<Vec<u32>>());"
    return (test(start.replace("let mut found", "let found") + end, uses="use std::sync::mpsc;"),
            test(f"{start}found.sort();\n{end}", uses="use std::sync::mpsc;"), CHOICE)


def after_static(rng):
    value = rng.randint(1, 99)
    use = "use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};\nstatic SHARED: AtomicUsize = AtomicUsize::new(0);"
    setter = test(f"SHARED.store({value}, SeqCst);", "a_sets", use)
    own = test(f"let own = AtomicUsize::new(0);\nown.store({value}, SeqCst);\nassert_eq!(own.load(SeqCst), {value});", "a_sets", use)
    return setter + test("assert_eq!(SHARED.load(SeqCst), 0);", "b_reads"), own + test("assert_eq!(SHARED.load(SeqCst), 0);", "b_reads"), ORDER


def after_variable(rng):
    name = "SHARED_" + str(rng.randint(1, 999))
    setter = test(f'unsafe {{ std::env::set_var("{name}", "1") }}', "a_sets")
    reader = test(f'assert!(std::env::var("{name}").is_err());', "b_reads")
    return setter + reader, reader + test(f'assert!(std::env::var("{name}").is_err());', "a_reads"), ORDER


def after_file(rng):
    name = "shared-" + str(rng.randint(1, 999))
    use = f'fn file() -> std::path::PathBuf {{ std::env::temp_dir().join(format!("{name}-{{}}", std::process::id())) }}'
    reader = test("assert!(!file().exists());", "b_reads")
    other = 'let own = file().with_extension("own");\nstd::fs::write(&own, "1").unwrap();\nstd::fs::remove_file(own).unwrap();'
    return test('std::fs::write(file(), "1").unwrap();', "a_sets", use) + reader, test(other, "a_sets", use) + reader, ORDER


def child(rng):
    milliseconds = rng.choice([20, 50, 100, 200])
    start = (f'let start = std::time::Instant::now();\nlet mut child = std::process::Command::new("sleep").arg("{milliseconds / 1000}").spawn().unwrap();\n')
    wait = rng.choice(["child.wait().unwrap();", "while child.try_wait().unwrap().is_none() { std::thread::yield_now(); }",
                       "while child.try_wait().unwrap().is_none() { std::thread::sleep(std::time::Duration::from_millis(1)); }"])
    nested = rng.choice([True, False])
    if nested:
        start = start.replace(f'new("sleep").arg("{milliseconds / 1000}")', f'new("sh").args(["-c", "sleep {milliseconds / 1000}; true"])')
    return (test(f"{start}{wait}\nassert!(start.elapsed().as_millis() < {milliseconds} + 1);"),
            test(f"{start}{wait}\nassert!(start.elapsed().as_millis() >= {milliseconds});"), None)


def loopback(rng):
    length = rng.randint(2, 5) * 1000
    start = ('let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();\nlet address = listener.local_addr().unwrap();\n'
             "let server = std::thread::spawn(move || { let (mut stream, _) = listener.accept().unwrap();\n"
             f"stream.write_all(&[1; {length}]).unwrap(); stream.write_all(&[2; {length}]).unwrap(); }});\n"
             "let mut stream = std::net::TcpStream::connect(address).unwrap();\n")
    use = "use std::io::{Read, Write};"
    return (test(f"{start}let mut bytes = [0; {length * 2}];\nlet read = stream.read(&mut bytes).unwrap();\nserver.join().unwrap();\n"
                 f"assert_eq!(read, {length * 2});", uses=use),
            test(f"{start}let mut bytes = Vec::new();\nstream.read_to_end(&mut bytes).unwrap();\nserver.join().unwrap();\n"
                 f"assert_eq!(bytes.len(), {length * 2});", uses=use), CHOICE | {"broken"})


TEMPLATES = [map_order, set_text, fixed_hasher, folder, random_bytes, margin, lost_update, deadlock, first_message, after_static,
             after_variable, after_file, child, loopback]


def write(directory, rng):
    """Writes a package of some pairs. Returns for each test target whether it has the bug, and
    the right verdicts."""
    tests = directory / "tests"
    shutil.rmtree(tests, ignore_errors=True)
    tests.mkdir(parents=True)
    (directory / "src").mkdir(exist_ok=True)
    (directory / "src/lib.rs").write_text("")
    (directory / "Cargo.toml").write_text('[package]\nname = "pairs"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n')
    truth = {}
    # Targets have the same names in each piece of work, so that a new build replaces the one
    # before.
    for number, template in enumerate(rng.sample(TEMPLATES, PAIRS)):
        bug, right, expected = template(rng)
        (tests / f"bug_{number}.rs").write_text(bug)
        (tests / f"right_{number}.rs").write_text(right)
        truth[f"bug_{number}"] = (template.__name__, expected)
        truth[f"right_{number}"] = (template.__name__, {"stable"})
    return truth
