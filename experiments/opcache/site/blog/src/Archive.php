<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Site\Blog;

/** The number of posts by month and by tag. */
final class Archive
{
    /** @var array<string, int> */
    public readonly array $months;

    /** @var array<string, int> */
    public readonly array $tags;

    /** @param list<Post> $posts */
    public function __construct(array $posts)
    {
        $this->months = array_count_values(array_map(static fn (Post $post): string => $post->month(), $posts));
        $tags = array_count_values(array_merge(...array_map(static fn (Post $post): array => $post->tags, $posts)));
        ksort($tags);
        $this->tags = $tags;
    }
}
