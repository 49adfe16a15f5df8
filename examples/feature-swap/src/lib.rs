//! An event bus: handlers subscribe to topics, and are called when an event is published.

use nondex_collections::collections::{HashMap, HashSet};
use nondex_collections::sync::mpsc::{self, Receiver};
use nondex_collections::thread;

/// Handlers of each topic.
#[derive(Debug, Default)]
pub struct Bus {
    topics: HashMap<String, HashSet<String>>,
}

impl Bus {
    /// Adds a handler to a topic. Returns whether the handler is new.
    pub fn subscribe(&mut self, topic: &str, handler: &str) -> bool {
        self.topics.entry(topic.to_owned()).or_default().insert(handler.to_owned())
    }

    /// Returns the handlers of a topic, in the order in which they are called.
    pub fn handlers(&self, topic: &str) -> Vec<&str> {
        match self.topics.get(topic) {
            Some(handlers) => handlers.iter().map(String::as_str).collect(),
            None => Vec::new(),
        }
    }

    /// Returns the topics with handlers, sorted.
    pub fn topics(&self) -> Vec<&str> {
        let mut topics: Vec<&str> = self.topics.keys().map(String::as_str).collect();
        topics.sort_unstable();
        topics
    }

    /// Calls the handlers of a topic on a separate thread, which sends the name of each one.
    pub fn publish(&self, topic: &str) -> Receiver<String> {
        let handlers: Vec<String> = self.handlers(topic).into_iter().map(str::to_owned).collect();
        let (called, receiver) = mpsc::channel();
        thread::spawn(move || handlers.into_iter().try_for_each(|handler| called.send(handler)));
        receiver
    }
}

#[cfg(test)]
mod tests {
    use nondex_collections::time::Duration;

    use super::*;

    fn bus() -> Bus {
        let mut bus = Bus::default();
        for handler in ["audit", "cache", "mail", "metrics", "search"] {
            bus.subscribe("order placed", handler);
        }
        bus.subscribe("order paid", "mail");
        bus
    }

    #[test]
    fn a_handler_subscribes_once() {
        let mut bus = bus();
        assert!(!bus.subscribe("order paid", "mail"));
        assert_eq!(bus.handlers("order paid"), ["mail"]);
    }

    #[test]
    fn topics_are_sorted() {
        assert_eq!(bus().topics(), ["order paid", "order placed"]);
    }

    #[test]
    fn the_audit_is_called_before_the_mail() {
        let bus = bus();
        let handlers = bus.handlers("order placed");
        let place = |name| handlers.iter().position(|handler| *handler == name);
        assert!(place("audit") < place("mail"), "{handlers:?}");
    }

    #[test]
    fn every_handler_is_called() {
        assert_eq!(bus().publish("order placed").iter().count(), 5);
    }

    #[test]
    fn the_mail_is_called_at_once() {
        let called = bus().publish("order paid").recv_timeout(Duration::from_millis(5));
        assert_eq!(called.as_deref(), Ok("mail"));
    }
}
