<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Site\Blog;

use DateTimeImmutable;
use RuntimeException;

/** The posts, each in a file: a header of names and values, a blank line, and the text. */
final class PostRepository
{
    public function __construct(private string $folder, private Markup $markup)
    {
    }

    public function find(int $number): ?Post
    {
        $file = sprintf('%s/%02d.txt', $this->folder, $number);
        return is_file($file) ? $this->read($file) : null;
    }

    /** @return list<Post> the latest first */
    public function all(): array
    {
        $posts = array_map($this->read(...), glob($this->folder . '/*.txt'));
        usort($posts, static fn (Post $a, Post $b): int => [$b->date, $b->number] <=> [$a->date, $a->number]);
        return $posts;
    }

    private function read(string $file): Post
    {
        [$head, $text] = explode("\n\n", file_get_contents($file), 2) + [1 => ''];
        $fields = [];
        foreach (explode("\n", $head) as $line) {
            [$name, $value] = explode(': ', $line, 2) + [1 => ''];
            $fields[$name] = $value;
        }
        if (!isset($fields['title'], $fields['date'])) {
            throw new RuntimeException("$file has no title or no date");
        }
        return new Post(
            (int) basename($file, '.txt'),
            $fields['title'],
            new DateTimeImmutable($fields['date']),
            explode(', ', $fields['tags'] ?? ''),
            $this->markup->html($text),
        );
    }
}
