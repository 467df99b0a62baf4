<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Site\Blog;

use DateTimeImmutable;

/** An entry of the blog. */
final class Post
{
    /** @param list<string> $tags */
    public function __construct(
        public readonly int $number,
        public readonly string $title,
        public readonly DateTimeImmutable $date,
        public readonly array $tags,
        public readonly string $text,
    ) {
    }

    public function month(): string
    {
        return $this->date->format('F Y');
    }

    public function teaser(): string
    {
        $words = preg_split('/\s+/', strip_tags($this->text), 31);
        return implode(' ', array_slice($words, 0, 30)) . ' …';
    }
}
